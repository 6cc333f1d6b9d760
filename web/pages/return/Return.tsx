import type { Leaving, ProviderView } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { leave } from '../../lib/leave.ts'
import { placeOf } from '../../lib/place.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { Unfinished } from '../../components/display/Unfinished.tsx'
import { readView, startAddress } from '../../lib/view.ts'

/** The end of a request that was decided before anything was asked. */
export function Return() {
  const { unfinished } = useWords()
  const view = readView('return')
  if ('organization' in view) return <ToProvider {...view} />
  const { leaving, unverified } = view
  if (!unverified) return <Posting leaving={leaving} />
  return (
    <Frame title={unfinished.title}>
      <section class="step">
        <Unfinished {...unverified} leaving={leaving} />
      </section>
    </Frame>
  )
}

/** What the user is shown before the browser goes to the sign-in of an organization that does not answer for it. */
function ToProvider({ organization, leaving: { url } }: ProviderView) {
  const words = useWords().sso
  const host = placeOf(url)
  return (
    <Frame title={words.leaveTitle(host)}>
      <section class="step">
        <h1>{words.leaveTitle(host)}</h1>
        <p class="lead">{words.leaveLead(organization, host)}</p>
        <p>{words.leaveWarning(host)}</p>
        <div class="actions">
          <a class="button primary" data-action="leave" href={url}>
            {words.leaveTo(host)}
          </a>
          <a class="button secondary" data-action="cancel" href={startAddress()}>
            {words.cancel}
          </a>
        </div>
      </section>
    </Frame>
  )
}

/** The moment in which the answer is posted to the app. */
function Posting({ leaving }: { leaving: Leaving }) {
  const words = useWords().signin
  useEffect(() => leave(leaving), [])
  return (
    <Frame title={words.leaving(placeOf(leaving.url))}>
      <section class="step">
        <p role="status">{words.leaving(placeOf(leaving.url))}</p>
      </section>
    </Frame>
  )
}
