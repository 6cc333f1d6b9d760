import type { AuthorizationResponse, ProviderView } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { redirectTargetLabel, submitRedirect } from '../../lib/navigation.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Unfinished } from '../../components/display/Unfinished.tsx'
import { homeUrl, readPageData } from '../../lib/page-data.ts'

/** Ends an authorization request that needs no prompt. */
export function Return() {
  const { unfinished } = useMessages()
  const view = readPageData('return')
  if ('organization' in view) return <ToProvider {...view} />
  const { leaving, unverified } = view
  if (!unverified) return <Posting leaving={leaving} />
  return (
    <PageLayout title={unfinished.title}>
      <section class="step">
        <Unfinished {...unverified} leaving={leaving} />
      </section>
    </PageLayout>
  )
}

/**
 * Asks before the browser goes to an SSO login that another site started, at a URL that the organization has not
 * verified (RFC 9700 §4.11.2).
 */
function ToProvider({ organization, leaving: { url } }: ProviderView) {
  const words = useMessages().sso
  const host = redirectTargetLabel(url)
  return (
    <PageLayout title={words.leaveTitle(host)}>
      <section class="step">
        <h1>{words.leaveTitle(host)}</h1>
        <p class="lead">{words.leaveLead(organization, host)}</p>
        <p>{words.leaveWarning(host)}</p>
        <div class="actions">
          <a class="button primary" data-action="leave" href={url}>
            {words.leaveTo(host)}
          </a>
          <a class="button secondary" data-action="cancel" href={homeUrl()}>
            {words.cancel}
          </a>
        </div>
      </section>
    </PageLayout>
  )
}

/** Shown while the response is posted to the app. */
function Posting({ leaving }: { leaving: AuthorizationResponse }) {
  const words = useMessages().signin
  useEffect(() => submitRedirect(leaving), [])
  return (
    <PageLayout title={words.leaving(redirectTargetLabel(leaving.url))}>
      <section class="step">
        <p role="status">{words.leaving(redirectTargetLabel(leaving.url))}</p>
      </section>
    </PageLayout>
  )
}
