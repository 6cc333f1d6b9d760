import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '#platform/config/config.ts'

test('without settings the service runs on localhost', () => {
  const config = loadConfig({})
  assert.equal(config.baseUrl.origin, 'http://localhost:4400')
  assert.equal(config.authUrl.origin, 'http://localhost:4401')
  assert.equal(config.businessUrl.origin, 'http://localhost:4402')
  assert.equal(config.relyingPartyId, 'localhost')
  assert.equal(config.demo, true)
  assert.equal(config.port, undefined)
})

const secret = 'q7Fd0vXzj2mWb9cLtN4sKp8RyGhEuA6o'
const hosted = {
  BASE_URL: 'https://api.example.com',
  AUTH_URL: 'https://id.example.com',
  BUSINESS_URL: 'https://business.example.com',
  DATABASE_URL: 'postgres://user:pass@db/countersign',
  SECRET_KEY: secret,
  TRUST_PROXY: '1',
}

test('a hosted service has neither demo nor developer portal by default', () => {
  assert.equal(loadConfig(hosted).demo, false)
  assert.equal(loadConfig({ ...hosted, DEMO: 'on' }).demo, true)
  assert.equal(loadConfig(hosted).developerPortal, false)
  assert.equal(loadConfig({ ...hosted, DEVELOPER_PORTAL: 'on' }).developerPortal, true)
  for (const given of [hosted, {}]) assert.equal(loadConfig(given).clientDocuments, false)
  assert.equal(loadConfig({ ...hosted, CLIENT_ID_METADATA_DOCUMENTS: 'on' }).clientDocuments, true)
  assert.equal(loadConfig({ ...hosted, WEBAUTHN_RP_ID: 'example.com' }).relyingPartyId, 'example.com')
})

const wrong: Record<string, Record<string, string>> = {
  BASE_URL: { BASE_URL: 'localhost:4400' },
  AUTH_URL: { ...hosted, AUTH_URL: 'http://id.example.com' },
  BUSINESS_URL: { BUSINESS_URL: 'https://business.example.com/path' },
  HOST: { HOST: 'db.example' },
  PORT: { PORT: 'eighty' },
  DATABASE_URL: { DATABASE_URL: 'mysql://db' },
  DATABASE_READ_URL: { ...hosted, DATABASE_READ_URL: 'mysql://db' },
  DATABASE_STATEMENT_NAMES: { DATABASE_STATEMENT_NAMES: 'no' },
  SECRET_KEY: { ...hosted, SECRET_KEY: 'short' },
  ADMIN_TOKEN: { ADMIN_TOKEN: 'short' },
  WEBAUTHN_RP_ID: { ...hosted, WEBAUTHN_RP_ID: 'other.example' },
  TRUST_PROXY: { TRUST_PROXY: 'everyone' },
  LOG_LEVEL: { LOG_LEVEL: 'loud' },
  LOG_FORMAT: { LOG_FORMAT: 'pretty' },
  RATE_LIMITS: { RATE_LIMITS: 'no' },
  RATE_LIMIT_NUMBERS: { RATE_LIMIT_NUMBERS: 'register-start=10,metadata=none' },
  DEMO: { DEMO: 'yes' },
  DEVELOPER_PORTAL: { DEVELOPER_PORTAL: 'open' },
  CLIENT_ID_METADATA_DOCUMENTS: { CLIENT_ID_METADATA_DOCUMENTS: 'https' },
  SMTP_URL: { SMTP_URL: 'https://mail.example.com', MAIL_FROM: 'id@example.com' },
  DNS_SERVERS: { DNS_SERVERS: '10.0.0.53, dns.example.com' },
  REGISTRATION: { REGISTRATION: 'anyone' },
  REGISTRATION_DOMAINS: { REGISTRATION_DOMAINS: 'acme.example, https://acme.example' },
  OUTBOUND_NETWORKS: { OUTBOUND_NETWORKS: 'siem.example.com:6514, 10.0.0.0/8' },
  MAIL_FROM: { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'Example\nBcc: all@example.com <id@example.com>' },
  WORKERS: { WORKERS: '4' },
  METRICS_PORT: { METRICS_PORT: '4400' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' },
  OTEL_EXPORTER_OTLP_HEADERS: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost', OTEL_EXPORTER_OTLP_HEADERS: 'key' },
}
for (const [name, environment] of Object.entries(wrong))
  test(`SUP-05 an invalid ${name} prevents the start with one line that names it`, () => {
    assert.throws(
      () => loadConfig(environment),
      (error: Error) => {
        assert.ok(error instanceof ConfigError)
        assert.ok(error.message.startsWith(name), error.message)
        assert.doesNotMatch(error.message, /\n/)
        return true
      },
    )
  })

test('NET-01 public URLs require TRUST_PROXY, and the error names its values, including off', () => {
  const { TRUST_PROXY: _, ...without } = hosted
  assert.throws(
    () => loadConfig(without),
    /TRUST_PROXY is missing[^\n]*\(1 to 9\)[^\n]*10\.0\.0\.0\/8[^\n]*\boff\b[^\n]*$/,
  )
  assert.equal(loadConfig({ ...hosted, TRUST_PROXY: 'off' }).trustProxy, false)
  for (const wrong of ['10.0.0.0/0', '10.0.0.0/33', '10.0.0.1:80', '::ffff:10.0.0.0/96', 'fd00::/129'])
    assert.throws(() => loadConfig({ ...hosted, TRUST_PROXY: wrong }), /TRUST_PROXY must/, wrong)
  assert.deepEqual(loadConfig({ ...hosted, TRUST_PROXY: '10.0.0.0/8' }).trustProxy, ['10.0.0.0/8'])
  assert.equal(loadConfig({}).trustProxy, false)
})

test('NET-03 the service listens on loopback on localhost, elsewhere at all addresses, unless HOST is set', () => {
  assert.deepEqual(loadConfig({}).listenAddresses, ['127.0.0.1', '::1'])
  assert.equal(loadConfig(hosted).listenAddresses, undefined)
  assert.deepEqual(loadConfig({ HOST: '0.0.0.0' }).listenAddresses, ['0.0.0.0'])
  assert.deepEqual(loadConfig({ ...hosted, HOST: '[::1], 10.0.0.1' }).listenAddresses, ['::1', '10.0.0.1'])
  assert.deepEqual(loadConfig({ ...hosted, HOST: 'localhost' }).listenAddresses, ['127.0.0.1', '::1'])
})

const guessable = [
  ...[
    'x'.repeat(32),
    'ab'.repeat(16),
    '0123456789abcdef'.repeat(2),
    '0123456789'.repeat(4),
    'correct horse '.repeat(3),
  ],
  ...['abcdefghijklmnopqrstuvwxyz012345', '98765432109876543210987654321098', 'change-me-change-me-change-me-please'],
  ...['your-secret-key-of-at-least-32-characters', 'an-example-of-a-secret-of-32-characters'],
]
for (const text of guessable)
  test(`SUP-05 a secret such as ${text} prevents the start`, () => {
    assert.throws(() => loadConfig({ ...hosted, SECRET_KEY: text }), /SECRET_KEY must be random/)
    assert.throws(() => loadConfig({ ...hosted, SECRET_KEY: `${secret},${text}` }), /SECRET_KEY must be random/)
    assert.throws(() => loadConfig({ ADMIN_TOKEN: text.replaceAll(' ', '-') }), /ADMIN_TOKEN must be random/)
  })

test('STO-10 STO-11 the service decides by a single PostgreSQL URL, and reads two files alone from a replica', () => {
  for (const url of ['postgres://u:p@one,two/countersign', 'postgresql://u:p@one.example,two.example/countersign'])
    for (const name of ['DATABASE_URL', 'DATABASE_READ_URL'])
      assert.throws(() => loadConfig({ ...hosted, [name]: url }), new RegExp(`^Error: ${name} must name one`), url)
  assert.throws(() => loadConfig({ DATABASE_READ_URL: hosted.DATABASE_URL }), /DATABASE_READ_URL must be a standby/)
  assert.equal(loadConfig(hosted).databaseReadUrl, undefined)
  const folder = join(import.meta.dirname, '../../../..')
  const exclude = ['**/testing/**', '**/*.test.ts', '**/node_modules/**']
  const sources = globSync('{server,saml}/**/*.ts', { cwd: folder, exclude })
  assert.ok(sources.length > 300)
  const filesWith = (pattern: RegExp) =>
    sources.filter((path) => pattern.test(readFileSync(join(folder, path), 'utf8'))).toSorted()
  const connecting = filesWith(/new (pg\.)?(Pool|Client)\(|connectionString/)
  assert.deepEqual(connecting, [
    'server/platform/database/database.ts',
    'server/platform/database/embedded.ts',
    'server/platform/database/server-pool.ts',
  ])
  const texts = connecting.map((path) => readFileSync(join(folder, path), 'utf8'))
  const urls = texts.join('\n').match(/connectionString: .+/g) ?? []
  assert.deepEqual(urls.toSorted(), ['connectionString: url,', 'connectionString: url?.reveal(),'])
  // Who can open a connection to another URL, who is given that of the replica, and who reads there.
  assert.deepEqual(filesWith(/\b(serverPool|onOwnConnection)\b/), [
    'server/platform/database/database.ts',
    // `countersign shard`, which the service does not run.
    'server/platform/database/distributed/sharding.ts',
    // Further connections to the database of its pool.
    'server/platform/database/migrate.ts',
    'server/platform/database/replica/replica.ts',
    'server/platform/database/server-pool.ts',
  ])
  assert.deepEqual(filesWith(/databaseReadUrl/), [
    'server/app.ts',
    'server/platform/config/config.ts',
    'server/platform/config/database-urls.ts',
  ])
  assert.deepEqual(filesWith(/largeReads|database\/replica\//i), [
    'server/app.ts',
    'server/operations/audit/export.ts',
    'server/operations/backup/backup.ts',
    'server/platform/database/replica/replica.ts',
    'server/platform/module/services.ts',
  ])
})

test('SUP-05 a random secret is accepted', () => {
  for (let count = 0; count < 2000; count += 1) {
    loadConfig({
      ...hosted,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ADMIN_TOKEN: randomBytes(32).toString('hex'),
    })
    loadConfig({ ...hosted, SECRET_KEY: randomBytes(16).toString('hex') })
  }
})

test('public URLs on the embedded database are rejected without ALLOW_EMBEDDED', () => {
  const { DATABASE_URL: _, SECRET_KEY: __, ...embedded } = hosted
  assert.throws(() => loadConfig(embedded), /^Error: DATABASE_URL is missing|DATABASE_URL is missing/)
  assert.equal(loadConfig({ ...embedded, ALLOW_EMBEDDED: '1' }).databaseUrl, undefined)
})

test('DATABASE_URL requires SECRET_KEY', () => {
  assert.throws(() => loadConfig({ DATABASE_URL: hosted.DATABASE_URL }), /SECRET_KEY is missing/)
})

const misspelt = {
  DATABASE_ULR: 'DATABASE_URL',
  TRUST_PORXY: 'TRUST_PROXY',
  RATE_LIMIT: 'RATE_LIMITS',
  SECRET_KEYS: 'SECRET_KEY',
  AUTH_URI: 'AUTH_URL',
  ADMIN_TOKIN: 'ADMIN_TOKEN',
  base_url: 'BASE_URL',
  DATADIR: 'DATA_DIR',
  'LOG-LEVEL': 'LOG_LEVEL',
}
for (const [variable, meant] of Object.entries(misspelt))
  test(`SUP-06 ${variable} prevents the start with its name and the intended setting`, () => {
    const expected = `Unknown setting ${variable}. Did you mean ${meant}?`
    assert.throws(() => loadConfig({ [variable]: 'x' }), { message: expected })
  })

test('SUP-06 unrelated environment variables are ignored', () => {
  const others = [
    'PATH',
    'HOME',
    'XDG_DATA_DIRS',
    'PORT0',
    'PORTS',
    'DEMOS',
    'DB_PORT',
    'WORKER',
    'URL',
    'HOSTNAME',
    'OAUTH_URL',
  ]
  for (const name of [...others, 'COUNTERSIGN_WORKER', 'DATABASE_URL_OLD', 'npm_config_loglevel', 'PGDATA'])
    loadConfig({ [name]: 'x' })
})

test('printing a secret setting does not reveal it', () => {
  const replica = 'postgres://reader:word@replica/countersign'
  const config = loadConfig({
    ...hosted,
    ADMIN_TOKEN: 'yyyy0VXzj2mWb9cLtN4sKp8RyGhEuA6oFd',
    DATABASE_READ_URL: replica,
  })
  assert.equal(config.databaseReadUrl?.reveal(), replica)
  assert.doesNotMatch(JSON.stringify(config), /q7Fd|yyyy|user:pass|reader:word/)
})

test('SET-11 a service whose environment lets certain domains register does not start without domains or mail', () => {
  const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'id@example.com' }
  const domains = { REGISTRATION: 'domains', REGISTRATION_DOMAINS: '*.B.example, a.example' }
  assert.deepEqual(loadConfig({ ...hosted, ...mail, ...domains }).fixed, {
    'registration.mode': 'domains',
    'registration.domains': ['*.b.example', 'a.example'],
  })
  assert.throws(() => loadConfig({ ...hosted, ...mail, REGISTRATION: 'domains' }), /REGISTRATION_DOMAINS is missing/)
  assert.throws(() => loadConfig({ ...hosted, ...domains }), /SMTP_URL is missing, which REGISTRATION=domains/)
  // On localhost, a page shows the mails.
  assert.equal(loadConfig(domains).registration, 'domains')
  const many = Array.from({ length: 101 }, (_, index) => `d${index}.example`).join(',')
  assert.throws(() => loadConfig({ REGISTRATION_DOMAINS: many }), /at most 100 domains/)
})

test('AUD-04 OUTBOUND_NETWORKS lists receivers by host and port, in one spelling', () => {
  const { outboundNetworks } = loadConfig({ OUTBOUND_NETWORKS: 'SIEM.example.com:443, 10.0.0.5:8088,[FD00::5]:6514' })
  assert.deepEqual(outboundNetworks, ['siem.example.com:443', '10.0.0.5:8088', '[fd00::5]:6514'])
  assert.deepEqual(loadConfig({}).outboundNetworks, [])
})
