import type { ErrorView } from '@countersign/protocol/pages'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { readView, startAddress } from '../../lib/view.ts'
import { explain } from './explanation.ts'

/** What the app sent: for its developer to compare with what is registered, as text and never as a link. */
function Sent({ clientId, redirectUri }: NonNullable<ErrorView['sent']>) {
  const words = useWords().error
  return (
    <details class="reference">
      <summary>{words.forDevelopers}</summary>
      <p>
        client_id <code>{clientId}</code>
      </p>
      <p>
        redirect_uri <code>{redirectUri}</code>
      </p>
    </details>
  )
}

export function Fault() {
  const words = useWords()
  const view = readView('error')
  const { title, hint } = explain(view, words)
  return (
    <Frame title={title}>
      <section class="step">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
        <p>
          <a class="button secondary" href={startAddress()}>
            {words.error.home}
          </a>
        </p>
        <p class="reference">
          {words.error.reference} <code>{view.error}</code> <code>{view.requestId}</code>
        </p>
        {view.sent && <Sent {...view.sent} />}
      </section>
    </Frame>
  )
}
