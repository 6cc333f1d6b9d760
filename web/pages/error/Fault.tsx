import type { ErrorView } from '@countersign/protocol/pages'
import type { Messages } from '../../locales/messages.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { homeUrl, readPageData } from '../../lib/page-data.ts'

/** Returns what happened and what to do. Codes without a text of their own use the description from the server. */
function errorPageText(
  { error, description }: Pick<ErrorView, 'error' | 'description'>,
  words: Pick<Messages, 'error'>,
) {
  const titles: Record<string, string> = words.error.titles
  const hints: Record<string, string> = words.error.hints
  return { title: titles[error] ?? words.error.title, hint: hints[error] ?? description }
}

/** Shows what the app sent, for its developer to compare with what is registered. It is text and never a link. */
function Sent({ clientId, redirectUri }: NonNullable<ErrorView['sent']>) {
  const words = useMessages().error
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

export function ErrorPage() {
  const words = useMessages()
  const view = readPageData('error')
  const { title, hint } = errorPageText(view, words)
  return (
    <PageLayout title={title}>
      <section class="step">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
        <p>
          <a class="button secondary" href={homeUrl()}>
            {words.error.home}
          </a>
        </p>
        <p class="reference">
          {words.error.reference} <code>{view.error}</code> <code>{view.requestId}</code>
        </p>
        {view.sent && <Sent {...view.sent} />}
      </section>
    </PageLayout>
  )
}
