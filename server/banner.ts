import type { SetupLink } from '#accounts/operators/setup.ts'
import { type Config, logsAsText, version } from '#platform/config/config.ts'

type Started = { storage: 'embedded' | 'PostgreSQL'; setup: SetupLink | undefined }

/**
 * Formats the start message on standard output: a banner where the log is text, otherwise a line of JSON like those of
 * the log, at any log level.
 */
export function announce(config: Config, { storage, setup }: Started, isTerminal: boolean): string {
  const { baseUrl, authUrl, businessUrl, workers } = config
  if (logsAsText(config, isTerminal)) return formatStartupBanner(config, storage, setupText(setup, isTerminal))
  const setupLink = setupText(setup, isTerminal)
  const line = {
    level: 30,
    time: Date.now(),
    version,
    openFirst: firstPage(config),
    pages: authUrl.origin,
    api: baseUrl.origin,
    organizations: businessUrl.origin,
    storage,
    ...(setupLink !== undefined && { setupLink }),
    processes: workers,
    msg: `Countersign ${version} is ready.`,
  }
  return `${JSON.stringify(line)}\n`
}

/** Returns the addresses in one line, which the log repeats. */
export function remindOfAddresses(config: Config): string {
  const { authUrl, baseUrl, mail } = config
  const mails = mail.by === 'log' ? [`mail ${authUrl.origin}/dev/mail`] : []
  const addresses = [`start here ${firstPage(config)}`, ...mails, `help ${authUrl.origin}/help`]
  return `Countersign: ${[...addresses, `API ${baseUrl.origin}/docs`].join('  ')}`
}

/** Returns where the operator finds the setup link. A log never contains it: only a terminal shows the link itself. */
function setupText(setup: SetupLink | undefined, isTerminal: boolean): string | undefined {
  return isTerminal ? setup?.url : setup?.path
}

function firstPage({ authUrl, demo, registration }: Config): string {
  const page = registration === 'open' || registration === 'domains' ? 'register' : 'login'
  return `${authUrl.origin}/${demo ? 'playground' : page}`
}

/** Formats the banner: the URLs, the page to open first, and the storage. */
function formatStartupBanner(config: Config, storage: Started['storage'], setup: string | undefined): string {
  const { baseUrl, authUrl, businessUrl, dataDirectory, workers, mail } = config
  const kept =
    storage === 'embedded'
      ? `embedded PostgreSQL in ${dataDirectory} (for one process; DATABASE_URL for several)`
      : 'PostgreSQL at DATABASE_URL'
  const lines = [
    '',
    `  Countersign ${version} is ready.`,
    '',
    `  Start here     ${firstPage(config)}`,
    ...(setup === undefined ? [] : [`  Operator       ${setup}   (setup link, for 24 hours)`]),
    `  Pages          ${authUrl.origin}`,
    `  API            ${baseUrl.origin}   (reference: ${baseUrl.origin}/docs)`,
    `  Organizations  ${businessUrl.origin}`,
    `  Help           ${authUrl.origin}/help`,
    ...(mail.by === 'log' ? [`  Mail           ${authUrl.origin}/dev/mail   (SMTP_URL is not set)`] : []),
    `  Storage        ${kept}`,
    ...(workers > 1 ? [`  Processes      ${workers}`] : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}
