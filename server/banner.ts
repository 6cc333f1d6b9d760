import type { Config } from '#kernel/config.ts'
import { version } from '#kernel/version.ts'

/** What the start says: where everything is, where to click first, and what one should know of the storage. */
export function banner(config: Config, storage: 'embedded' | 'PostgreSQL'): string {
  const { baseUrl, authUrl, businessUrl, demo, dataDirectory, workers } = config
  const first = demo ? `${authUrl.origin}/playground` : `${authUrl.origin}/register`
  const kept =
    storage === 'embedded'
      ? `embedded PostgreSQL in ${dataDirectory} (survives a crash, not a power cut; for production set DATABASE_URL)`
      : 'PostgreSQL at DATABASE_URL'
  const lines = [
    '',
    `  Countersign ${version} is ready.`,
    '',
    `  Open first     ${first}`,
    `  Pages          ${authUrl.origin}`,
    `  API            ${baseUrl.origin}   (reference: ${baseUrl.origin}/docs)`,
    `  Organizations  ${businessUrl.origin}`,
    `  Storage        ${kept}`,
    ...(workers > 1 ? [`  Processes      ${workers}`] : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}
