import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '#platform/config/config.ts'

test('without any setting it is a service on localhost', () => {
  const config = readConfig({})
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

test('a hosted service has no demo, and lets nobody register apps, unless it says so', () => {
  assert.equal(readConfig(hosted).demo, false)
  assert.equal(readConfig({ ...hosted, DEMO: 'on' }).demo, true)
  assert.equal(readConfig(hosted).developerPortal, false)
  assert.equal(readConfig({ ...hosted, DEVELOPER_PORTAL: 'on' }).developerPortal, true)
  for (const given of [hosted, {}]) assert.equal(readConfig(given).clientDocuments, false)
  assert.equal(readConfig({ ...hosted, CLIENT_ID_METADATA_DOCUMENTS: 'on' }).clientDocuments, true)
  assert.equal(readConfig({ ...hosted, WEBAUTHN_RP_ID: 'example.com' }).relyingPartyId, 'example.com')
})

const wrong: Record<string, Record<string, string>> = {
  BASE_URL: { BASE_URL: 'localhost:4400' },
  AUTH_URL: { ...hosted, AUTH_URL: 'http://id.example.com' },
  BUSINESS_URL: { BUSINESS_URL: 'https://business.example.com/path' },
  HOST: { HOST: 'db.example' },
  PORT: { PORT: 'eighty' },
  DATABASE_URL: { DATABASE_URL: 'mysql://db' },
  SECRET_KEY: { ...hosted, SECRET_KEY: 'short' },
  ADMIN_TOKEN: { ADMIN_TOKEN: 'short' },
  WEBAUTHN_RP_ID: { ...hosted, WEBAUTHN_RP_ID: 'other.example' },
  TRUST_PROXY: { TRUST_PROXY: 'everyone' },
  LOG_LEVEL: { LOG_LEVEL: 'loud' },
  RATE_LIMITS: { RATE_LIMITS: 'no' },
  RATE_LIMIT_NUMBERS: { RATE_LIMIT_NUMBERS: 'register-start=10,no-such-limit=3' },
  DEMO: { DEMO: 'yes' },
  DEVELOPER_PORTAL: { DEVELOPER_PORTAL: 'open' },
  CLIENT_ID_METADATA_DOCUMENTS: { CLIENT_ID_METADATA_DOCUMENTS: 'https' },
  SMTP_URL: { SMTP_URL: 'https://mail.example.com', MAIL_FROM: 'id@example.com' },
  DNS_SERVERS: { DNS_SERVERS: '10.0.0.53, dns.example.com' },
  MAIL_FROM: { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'Example\nBcc: all@example.com <id@example.com>' },
  WORKERS: { WORKERS: '4' },
  METRICS_PORT: { METRICS_PORT: '4400' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' },
  OTEL_EXPORTER_OTLP_HEADERS: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost', OTEL_EXPORTER_OTLP_HEADERS: 'key' },
}
for (const [name, environment] of Object.entries(wrong))
  test(`SUP-05 a wrong ${name} stops the start with one line that names it`, () => {
    assert.throws(
      () => readConfig(environment),
      (error: Error) => {
        assert.ok(error instanceof ConfigError)
        assert.ok(error.message.startsWith(name), error.message)
        assert.doesNotMatch(error.message, /\n/)
        return true
      },
    )
  })

test('NET-01 public URLs need TRUST_PROXY, whose values are named; off is one of them', () => {
  const { TRUST_PROXY: _, ...without } = hosted
  assert.throws(
    () => readConfig(without),
    /TRUST_PROXY is missing[^\n]*\(1 to 9\)[^\n]*10\.0\.0\.0\/8[^\n]*\boff\b[^\n]*$/,
  )
  assert.equal(readConfig({ ...hosted, TRUST_PROXY: 'off' }).trustProxy, false)
  for (const wrong of ['10.0.0.0/0', '10.0.0.0/33', '10.0.0.1:80', '::ffff:10.0.0.0/96', 'fd00::/129'])
    assert.throws(() => readConfig({ ...hosted, TRUST_PROXY: wrong }), /TRUST_PROXY must/, wrong)
  assert.deepEqual(readConfig({ ...hosted, TRUST_PROXY: '10.0.0.0/8' }).trustProxy, ['10.0.0.0/8'])
  assert.equal(readConfig({}).trustProxy, false)
})

test('NET-03 on localhost it listens on loopback, elsewhere at all addresses, unless HOST says where', () => {
  assert.deepEqual(readConfig({}).listenAddresses, ['127.0.0.1', '::1'])
  assert.equal(readConfig(hosted).listenAddresses, undefined)
  assert.deepEqual(readConfig({ HOST: '0.0.0.0' }).listenAddresses, ['0.0.0.0'])
  assert.deepEqual(readConfig({ ...hosted, HOST: '[::1], 10.0.0.1' }).listenAddresses, ['::1', '10.0.0.1'])
  assert.deepEqual(readConfig({ ...hosted, HOST: 'localhost' }).listenAddresses, ['127.0.0.1', '::1'])
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
  test(`SUP-05 a secret such as ${text} stops the start`, () => {
    assert.throws(() => readConfig({ ...hosted, SECRET_KEY: text }), /SECRET_KEY must be random/)
    assert.throws(() => readConfig({ ...hosted, SECRET_KEY: `${secret},${text}` }), /SECRET_KEY must be random/)
    assert.throws(() => readConfig({ ADMIN_TOKEN: text.replaceAll(' ', '-') }), /ADMIN_TOKEN must be random/)
  })

test('STO-10 STO-11 one PostgreSQL is written and read: no setting names another one', () => {
  for (const url of ['postgres://u:p@one,two/countersign', 'postgresql://u:p@one.example,two.example/countersign'])
    assert.throws(() => readConfig({ ...hosted, DATABASE_URL: url }), /DATABASE_URL must name one/, url)
  const folder = join(import.meta.dirname, '../../..')
  const sources = globSync('**/*.ts', { cwd: folder, exclude: ['testing/**', '**/*.test.ts', '**/node_modules/**'] })
  assert.ok(sources.length > 300)
  const connecting = sources.filter((path) =>
    /new (pg\.)?(Pool|Client)\(|connectionString/.test(readFileSync(join(folder, path), 'utf8')),
  )
  assert.deepEqual(connecting.toSorted(), ['platform/database/database.ts', 'platform/database/embedded-database.ts'])
  const urls = readFileSync(join(folder, 'platform/database/database.ts'), 'utf8').match(/connectionString: .+/g) ?? []
  assert.deepEqual(urls.toSorted(), ['connectionString: url,', 'connectionString: url?.reveal(),'])
})

test('SUP-05 a secret that was drawn never does', () => {
  for (let count = 0; count < 2000; count += 1) {
    readConfig({
      ...hosted,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ADMIN_TOKEN: randomBytes(32).toString('hex'),
    })
    readConfig({ ...hosted, SECRET_KEY: randomBytes(16).toString('hex') })
  }
})

test('public URLs on the embedded database are refused unless someone has said that it may be', () => {
  const { DATABASE_URL: _, SECRET_KEY: __, ...embedded } = hosted
  assert.throws(() => readConfig(embedded), /^Error: DATABASE_URL is missing|DATABASE_URL is missing/)
  assert.equal(readConfig({ ...embedded, ALLOW_EMBEDDED: '1' }).databaseUrl, undefined)
})

test('with DATABASE_URL the SECRET_KEY must be given', () => {
  assert.throws(() => readConfig({ DATABASE_URL: hosted.DATABASE_URL }), /SECRET_KEY is missing/)
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
  test(`SUP-06 ${variable} stops the start with its name and what was meant`, () => {
    const expected = `${variable} is not a setting: write ${meant}, or unset it.`
    assert.throws(() => readConfig({ [variable]: 'x' }), { message: expected })
  })

test('SUP-06 what others may have in the environment is none of ours', () => {
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
    readConfig({ [name]: 'x' })
})

test('a secret setting does not show itself', () => {
  const config = readConfig({ ...hosted, ADMIN_TOKEN: 'yyyy0VXzj2mWb9cLtN4sKp8RyGhEuA6oFd' })
  assert.doesNotMatch(JSON.stringify(config), /q7Fd|yyyy|user:pass/)
})
