import { ConfigError } from '#platform/config-error.ts'
import { Secret } from '#platform/crypto/secret.ts'

type Name = 'DATABASE_URL' | 'DATABASE_READ_URL'

/** Parses the URLs of the database and of its replica. Without one, the database is embedded. */
export function readDatabaseUrls(given: (name: Name) => string | undefined) {
  const [databaseUrl, databaseReadUrl] = [readUrl('DATABASE_URL', given), readUrl('DATABASE_READ_URL', given)]
  if (databaseReadUrl && !databaseUrl)
    throw new ConfigError('DATABASE_READ_URL must be a standby of DATABASE_URL, which is missing.')
  return { databaseUrl, databaseReadUrl }
}

const because = ', because revocations must apply at once'

function readUrl(name: Name, given: (name: Name) => string | undefined): Secret | undefined {
  const text = given(name)
  if (text === undefined) return undefined
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new ConfigError(`${name} must be a PostgreSQL URL: postgres://user:password@host:5432/database.`)
  if (new URL(text).hostname.includes(','))
    throw new ConfigError(`${name} must name one PostgreSQL server${name === 'DATABASE_URL' ? because : ''}.`)
  return new Secret(text)
}
