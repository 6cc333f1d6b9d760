import type { AuthorizationResponse, ProviderView } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { redirectTargetLabel, submitRedirect } from '../../lib/navigation.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { Unfinished } from '../../components/display/Unfinished.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { homeUrl, readPageData } from '../../lib/page-data.ts'
import { usePageWords } from './words.ts'
import '../../components/unlock/unlock.css'

/** Ends an authorization request that needs no prompt. */
export function Return() {
  const { unfinished } = useConsentMessages()
  const view = readPageData('return')
  if ('organization' in view) return <ToProvider {...view} />
  const { leaving, unverified } = view
  if (!unverified) return <Posting leaving={leaving} />
  return (
    <PageLayout title={unfinished.title} where>
      <Unfinished {...unverified} leaving={leaving} />
    </PageLayout>
  )
}

/**
 * Asks before the browser goes to an SSO login that another site started, at a URL that the organization has not
 * verified (RFC 9700 §4.11.2).
 */
function ToProvider({ organization, leaving: { url } }: ProviderView) {
  const words = usePageWords()
  const host = redirectTargetLabel(url)
  return (
    <PageLayout title={words.leaveTitle(host)} where>
      <div class="stack tight">
        <h1>{words.leaveTitle(host)}</h1>
        <p class="lead">{words.leaveLead(organization, host)}</p>
      </div>
      <Note tone="wait">{words.leaveWarning(host)}</Note>
      <div class="actions">
        <a class="button primary" data-action="leave" href={url}>
          {words.leaveTo(host)}
        </a>
        <a class="button" data-action="cancel" href={homeUrl()}>
          {words.cancel}
        </a>
      </div>
    </PageLayout>
  )
}

/** Shown while the response is posted to the app. */
function Posting({ leaving }: { leaving: AuthorizationResponse }) {
  const words = useConsentMessages().signin
  useEffect(() => submitRedirect(leaving), [])
  const text = words.leaving(redirectTargetLabel(leaving.url))
  return (
    <PageLayout title={text}>
      <p role="status">{text}</p>
    </PageLayout>
  )
}
