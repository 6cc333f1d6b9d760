import { isLocal, type Config } from '#platform/config/config.ts'
import { version } from '#platform/config/version.ts'

/**
 * What the start says on standard output: to a person at a terminal of this machine the banner, and else a line of JSON
 * like those of the log, whatever its level.
 */
export function announce(config: Config, storage: 'embedded' | 'PostgreSQL', isTerminal: boolean): string {
  const { baseUrl, authUrl, businessUrl, workers } = config
  if (isTerminal && [baseUrl, authUrl, businessUrl].every(isLocal)) return banner(config, storage)
  const line = {
    level: 30,
    time: Date.now(),
    version,
    openFirst: firstPage(config),
    pages: authUrl.origin,
    api: baseUrl.origin,
    organizations: businessUrl.origin,
    storage,
    processes: workers,
    msg: `Countersign ${version} is ready.`,
  }
  return `${JSON.stringify(line)}\n`
}

function firstPage({ authUrl, demo }: Config): string {
  return `${authUrl.origin}/${demo ? 'playground' : 'register'}`
}

/** What a person is told: where everything is, where to click first, and what one should know of the storage. */
function banner(config: Config, storage: 'embedded' | 'PostgreSQL'): string {
  const { baseUrl, authUrl, businessUrl, dataDirectory, workers } = config
  const kept =
    storage === 'embedded'
      ? `embedded PostgreSQL in ${dataDirectory} (survives a crash, not a power cut; for production set DATABASE_URL)`
      : 'PostgreSQL at DATABASE_URL'
  const lines = [
    '',
    `  Countersign ${version} is ready.`,
    '',
    `  Open first     ${firstPage(config)}`,
    `  Pages          ${authUrl.origin}`,
    `  API            ${baseUrl.origin}   (reference: ${baseUrl.origin}/docs)`,
    `  Organizations  ${businessUrl.origin}`,
    `  Storage        ${kept}`,
    ...(workers > 1 ? [`  Processes      ${workers}`] : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}
