import type { ErrorView } from '@countersign/protocol/pages'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Disclosure } from '../../components/ui/Disclosure.tsx'
import { Facts } from '../../components/ui/Facts.tsx'
import { Icon, type IconName } from '../../components/ui/Icon.tsx'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { homeUrl, readPageData, readSiteSettings } from '../../lib/page-data.ts'
import { usePageWords } from './words.ts'
import './error.css'

type Words = ReturnType<typeof usePageWords>

/**
 * Returns what happened, and who can fix it or what to do. Codes without a text of their own use the description from
 * the server.
 */
function errorPageText({ error, description, app, sent, retryAfterSeconds = 60 }: ErrorView, words: Words) {
  const titles: Record<string, string> = words.titles
  const hints: Record<string, string> = words.hints
  const title = titles[error] ?? words.title
  if (app && error === 'invalid_redirect_uri' && sent?.redirectUri === '')
    return { title, hint: words.nowhereToReturn(app.name) }
  if (app && error === 'invalid_redirect_uri') return { title, hint: words.unregistered(app.name) }
  if (error === 'sso_user_deactivated') return { title, hint: words.deactivated(readSiteSettings().brand.name) }
  if (error === 'rate_limited') return { title, hint: words.rateLimited(retryAfterSeconds) }
  return { title, hint: hints[error] ?? description }
}

const icons: Partial<Record<string, IconName>> = {
  not_found: 'search',
  rate_limited: 'clock',
  temporarily_unavailable: 'clock',
  server_error: 'triangle-alert',
}

export function ErrorPage() {
  const words = usePageWords()
  const view = readPageData('error')
  const { title, hint } = errorPageText(view, words)
  const website = view.app?.websiteUrl ?? undefined
  return (
    <PageLayout title={title} where>
      <span class={view.error === 'server_error' ? 'glyph bad big-glyph' : 'glyph wait big-glyph'}>
        <Icon name={icons[view.error] ?? 'unplug'} />
      </span>
      <div class="stack tight">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
      </div>
      <div class="actions">
        {website !== undefined && (
          <a class="button primary big block" href={website} rel="noreferrer">
            {words.backTo(redirectTargetLabel(website))}
          </a>
        )}
        <a class={`button big block${website === undefined ? ' primary' : ''}`} href={homeUrl()}>
          {words.home}
        </a>
      </div>
      {view.sent && <ForDeveloper view={view} sent={view.sent} />}
      <p class="soft small">
        {words.stuck} <code>{view.requestId}</code>
      </p>
    </PageLayout>
  )
}

type DeveloperProps = { view: ErrorView; sent: NonNullable<ErrorView['sent']> }

/**
 * Shows the reason, and what the app sent, for its developer to compare with what is registered. It is text and never a
 * link.
 */
function ForDeveloper({ view: { error, description, app }, sent: { clientId, redirectUri } }: DeveloperProps) {
  const words = usePageWords()
  const { authUrl, developers } = readSiteSettings()
  const { frame } = useMessages()
  const facts = [
    { label: words.facts.error, value: <code>{error}</code> },
    { label: words.facts.reason, value: <bdi lang="en">{description}</bdi> },
    { label: words.facts.clientId, value: <code>{clientId}</code> },
    { label: words.facts.redirectUri, value: <code>{redirectUri === '' ? words.nothingReceived : redirectUri}</code> },
  ]
  return (
    <Disclosure summary={words.forDevelopers} icon="code-xml">
      <div class="stack">
        <Facts of={facts} />
        <p>
          {app && developers ? (
            <a class="link" href={`${authUrl}/developers/apps/${encodeURIComponent(clientId)}/settings`}>
              {redirectUri === '' ? words.openSettings : words.settings}
              <Icon name="arrow-right" size="sm" class="flips" />
            </a>
          ) : (
            <a class="link" href={`${authUrl}/help`}>
              {frame.help}
            </a>
          )}
        </p>
      </div>
    </Disclosure>
  )
}
