import { Resolver } from 'node:dns'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { isEmail } from '@countersign/protocol/formats/email'
import type { RegistrationMode, SomeSettings } from '@countersign/protocol/operations/settings'
import { ConfigError } from '#platform/config-error.ts'
import { type BrandSetting, brandSettings, readBrand } from './brand.ts'
import { readDatabaseUrls } from './database-urls.ts'
import { readFixedSettings } from './fixed-settings.ts'
import { readReceivers } from './receivers.ts'
import { suggestSetting } from './misspelling.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { readAdminToken, readSecretKeys } from './secret-settings.ts'
import { type TrustProxy, parseNetwork } from '#platform/source-address.ts'
import manifest from '#package.json' with { type: 'json' }

export { ConfigError } from '#platform/config-error.ts'

export type Config = {
  baseUrl: URL
  authUrl: URL
  businessUrl: URL
  /**
   * Port of one listener for all three hosts, selected by `Host`. Undefined for a listener on each port of the URLs.
   */
  port: number | undefined
  /** Addresses of this machine for all listeners. Undefined for all addresses. */
  listenAddresses: string[] | undefined
  databaseUrl: Secret | undefined
  /** A standby of the database, for large reads. Undefined if there is none. */
  databaseReadUrl: Secret | undefined
  /** True if statements are prepared under names, which belong to a connection of the database. */
  statementNames: boolean
  dataDirectory: string
  /**
   * Root keys of encryption at rest: the first encrypts, all decrypt. Undefined if the key is in the data directory.
   */
  secretKeys: Secret[] | undefined
  /** Undefined if the token is in the data directory; off if there is none. */
  adminToken: Secret | 'off' | undefined
  relyingPartyId: string
  trustProxy: TrustProxy
  logLevel: string
  /** `auto`: text at a terminal on localhost, otherwise JSON. */
  logFormat: LogFormat
  /** False if `NO_COLOR` is set, or the terminal has none. */
  logColors: boolean
  /** Number of server processes. */
  workers: number
  rateLimits: boolean
  /** Points by the name of a rate limit, instead of the defaults. The names are checked when the server starts. */
  rateLimitNumbers: Record<string, number>
  /** Port of the metrics listener. Undefined if it is off. */
  metricsPort: number | undefined
  /** Receiver of traces. Undefined if there is none. */
  traces: TracesSetting | undefined
  demo: boolean
  /** True if users can register their own apps. */
  developerPortal: boolean
  /** True if a client ID can be the URL of a client metadata document. */
  clientDocuments: boolean
  mail: MailSetting
  /** Time between the redemption of a recovery link and its passkey becoming valid. */
  recoveryCoolingOffHours: number
  /** Receivers of the audit log on private networks, as `host:port`. */
  outboundNetworks: string[]
  /** Name servers for domain verification. Empty for those of this machine. */
  dnsServers: string[]
  brand: BrandSetting
  /** Who may create an account, as pages show it. The registration itself reads it in its transaction. */
  registration: RegistrationMode
  /** Settings that operators can change, as far as the environment fixes them. */
  fixed: SomeSettings
}

/** Delivery of mail: by a mail server, to the log if all URLs are local, or not at all. */
export type MailSetting = { by: 'smtp'; url: Secret; from: string } | { by: 'log' } | { by: 'nothing' }

export type TracesSetting = {
  /** Base URL of OTLP/HTTP, to which `v1/traces` is added. */
  endpoint: URL
  /** Headers for the receiver, `name=value,…`, such as an API key. */
  headers: Secret | undefined
  serviceName: string
  /** True if `traceparent` is accepted, which a proxy must set or remove. */
  heedsParent: boolean
}

export type LogFormat = 'auto' | 'json' | 'text'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** All settings. A variable with a similar name prevents the start. */
export const settings = [
  ...['BASE_URL', 'AUTH_URL', 'BUSINESS_URL', 'HOST', 'PORT', 'DATA_DIR', 'SECRET_KEY'],
  ...['DATABASE_URL', 'DATABASE_READ_URL', 'DATABASE_STATEMENT_NAMES', 'ALLOW_EMBEDDED'],
  ...['ADMIN_TOKEN', 'WEBAUTHN_RP_ID', 'TRUST_PROXY', 'SMTP_URL', 'MAIL_FROM', 'WORKERS', 'LOG_LEVEL'],
  ...['LOG_FORMAT', 'METRICS_PORT'],
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_SERVICE_NAME', 'RATE_LIMITS'],
  ...['RATE_LIMIT_NUMBERS', 'DEMO', 'DEVELOPER_PORTAL', 'CLIENT_ID_METADATA_DOCUMENTS', 'DNS_SERVERS'],
  ...['OUTBOUND_NETWORKS'],
  ...['REGISTRATION', 'REGISTRATION_DOMAINS', 'RECOVERY_COOLING_OFF_HOURS'],
  ...brandSettings,
] as const
type Setting = (typeof settings)[number]

/** Parses the settings of completions §0. Throws `ConfigError` at the first invalid one. */
export function loadConfig(environment: Record<string, string | undefined>): Config {
  rejectUnknownSettings(Object.keys(environment))
  const given = (name: Setting) => environment[name]?.trim() || undefined
  const baseUrl = readUrl('BASE_URL', given('BASE_URL') ?? 'http://localhost:4400')
  const authUrl = readUrl('AUTH_URL', given('AUTH_URL') ?? 'http://localhost:4401')
  const businessUrl = readUrl('BUSINESS_URL', given('BUSINESS_URL') ?? 'http://localhost:4402')
  const local = [baseUrl, authUrl, businessUrl].every(isLocal)
  const { databaseUrl, databaseReadUrl } = readDatabaseUrls(given)
  const brand = readBrand(given)

  if (!local && !databaseUrl && given('ALLOW_EMBEDDED') !== '1')
    throw new ConfigError(
      'DATABASE_URL is missing. With public URLs, set it to a PostgreSQL URL (postgres://…), or set ALLOW_EMBEDDED=1 ' +
        'to accept that the embedded database serves one process and has no replica.',
    )

  const mail = readMail(given('SMTP_URL'), given('MAIL_FROM'), local)
  const fixed = readFixedSettings(given, { brand, sendsMail: mail.by !== 'nothing' })
  return {
    baseUrl,
    authUrl,
    businessUrl,
    port: readPort('PORT', given('PORT')),
    listenAddresses: readHost(given('HOST') ?? (local ? 'localhost' : undefined)),
    databaseUrl,
    databaseReadUrl,
    statementNames: readSwitch('DATABASE_STATEMENT_NAMES', given('DATABASE_STATEMENT_NAMES') ?? 'on'),
    dataDirectory: resolve(given('DATA_DIR') ?? './data'),
    secretKeys: readSecretKeys(given('SECRET_KEY'), databaseUrl !== undefined),
    adminToken: readAdminToken(given('ADMIN_TOKEN')),
    relyingPartyId: readRelyingPartyId(given('WEBAUTHN_RP_ID'), authUrl),
    trustProxy: readTrustProxy(given('TRUST_PROXY') ?? (local ? 'off' : undefined)),
    logLevel: readChoice('LOG_LEVEL', given('LOG_LEVEL') ?? 'info', logLevels),
    logFormat: readLogFormat(given('LOG_FORMAT')),
    // https://no-color.org
    logColors: !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
    workers: readWorkers(given('WORKERS'), databaseUrl !== undefined),
    rateLimits: readSwitch('RATE_LIMITS', given('RATE_LIMITS') ?? 'on'),
    rateLimitNumbers: readRateLimitNumbers(given('RATE_LIMIT_NUMBERS')),
    metricsPort: readMetricsPort(given('METRICS_PORT'), [given('PORT'), baseUrl.port, authUrl.port, businessUrl.port]),
    traces: readTraces(given),
    demo: readSwitch('DEMO', given('DEMO') ?? (local ? 'on' : 'off')),
    developerPortal: readSwitch('DEVELOPER_PORTAL', given('DEVELOPER_PORTAL') ?? (local ? 'on' : 'off')),
    clientDocuments: readSwitch('CLIENT_ID_METADATA_DOCUMENTS', given('CLIENT_ID_METADATA_DOCUMENTS') ?? 'off'),
    mail,
    dnsServers: readDnsServers(given('DNS_SERVERS')),
    outboundNetworks: readReceivers('OUTBOUND_NETWORKS', given('OUTBOUND_NETWORKS')),
    recoveryCoolingOffHours: readCoolingOff(given('RECOVERY_COOLING_OFF_HOURS') ?? '24'),
    brand,
    registration: fixed['registration.mode'] ?? (local ? 'open' : 'invited'),
    fixed,
  }
}

function rejectUnknownSettings(variables: string[]): void {
  for (const variable of variables) {
    const meant = suggestSetting(variable, settings)
    if (meant) throw new ConfigError(`Unknown setting ${variable}. Did you mean ${meant}?`)
  }
}

/** Checks whether a URL's host is this machine, by name or loopback address. Plain `http` is safe only there. */
export function isLocal({ hostname }: Pick<URL, 'hostname'>): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '127.0.0.1' || hostname === '[::1]'
}

function readUrl(name: string, text: string): URL {
  const url = URL.parse(text)
  if (!url) throw new ConfigError(`${name} is not a URL. Set it to an origin such as https://id.example.com.`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ConfigError(`${name} must start with https:// (or http:// on localhost).`)
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    throw new ConfigError(`${name} must be an origin without path, query or credentials: ${url.origin}.`)
  if (!hasPlainHost(url)) throw new ConfigError(`${name} must have a host of letters, digits, hyphens and dots.`)
  if (url.protocol === 'http:' && !isLocal(url))
    throw new ConfigError(`${name} must use https. Only localhost can be served without TLS.`)
  return url
}

function readPort(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new ConfigError(`${name} must be a number from 1 to 65535, or unset.`)
  return port
}

/** Parses `HOST`: comma-separated addresses of this machine. `localhost` stands for both of its loopback addresses. */
function readHost(text: string | undefined): string[] | undefined {
  const addresses = text?.split(',').flatMap((address) => {
    const host = address.trim().replace(/^\[(.*)\]$/, '$1')
    return host === 'localhost' ? loopbackAddresses : [host]
  })
  if (addresses?.some((address) => isIP(address) === 0))
    throw new ConfigError('HOST must be an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::, or localhost.')
  return addresses
}

const loopbackAddresses = ['127.0.0.1', '::1']

function readMetricsPort(text: string | undefined, taken: (string | undefined)[]): number | undefined {
  if (text !== undefined && taken.includes(text))
    throw new ConfigError('METRICS_PORT must differ from the other ports, because metrics are not public.')
  return readPort('METRICS_PORT', text)
}

function readTraces(given: (name: Setting) => string | undefined): TracesSetting | undefined {
  const text = given('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (text === undefined) return undefined
  const endpoint = URL.parse(text)
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be the URL of an OTLP/HTTP receiver, such as http://localhost:4318.',
    )
  const headers = given('OTEL_EXPORTER_OTLP_HEADERS')
  if (headers?.split(',').some((pair) => !/^\s*[!#$%&'*+.^_`|~\w-]+=([^%]|%[\da-f]{2})*$/i.test(pair)))
    throw new ConfigError('OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, comma-separated, percent-encoded.')
  return {
    endpoint,
    headers: headers === undefined ? undefined : new Secret(headers),
    serviceName: given('OTEL_SERVICE_NAME') ?? 'countersign',
    heedsParent: given('TRUST_PROXY') !== undefined && given('TRUST_PROXY') !== 'off',
  }
}

function readRelyingPartyId(text: string | undefined, { hostname }: URL): string {
  const id = text ?? hostname
  if (isIP(id.replaceAll(/[[\]]/g, '')))
    throw new ConfigError('AUTH_URL must have a host name, because browsers create no passkeys for an IP address.')
  if (hostname !== id && !hostname.endsWith(`.${id}`))
    throw new ConfigError(`WEBAUTHN_RP_ID must be ${hostname}, the host of AUTH_URL, or a parent domain of it.`)
  return id
}

function readTrustProxy(text: string | undefined): number | string[] | false {
  if (text === undefined)
    throw new ConfigError(
      'TRUST_PROXY is missing. With public URLs, set it to the number of proxies before the service (1 to 9), to ' +
        'their addresses such as 10.0.0.0/8, comma-separated, or to off if there are no trusted proxies.',
    )
  if (text === 'off') return false
  if (/^[1-9]$/.test(text)) return Number(text)
  const networks = text.split(',').map((network) => network.trim())
  if (networks.some((network) => !parseNetwork(network)))
    throw new ConfigError(
      'TRUST_PROXY must be off, a number of hops (1 to 9) or addresses such as 10.0.0.0/8, comma-separated.',
    )
  return networks
}

function readWorkers(text: string | undefined, shareable: boolean): number {
  if (text === undefined) return shareable ? availableParallelism() : 1
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new ConfigError('WORKERS must be a number of processes, from 1 to 999.')
  if (text !== '1' && !shareable)
    throw new ConfigError(
      'WORKERS must be 1 with the embedded database, which allows one process. Set DATABASE_URL for more.',
    )
  return Number(text)
}

function readCoolingOff(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 168) return Number(text)
  throw new ConfigError('RECOVERY_COOLING_OFF_HOURS must be a number of hours, from 0 to 168.')
}

function readMail(url: string | undefined, from: string | undefined, local: boolean): MailSetting {
  if (url === undefined && from === undefined) return { by: local ? 'log' : 'nothing' }
  if (url === undefined)
    throw new ConfigError('SMTP_URL is missing, which MAIL_FROM requires. Set it to smtp://user:password@host:587.')
  const { protocol = '', hostname = '', pathname = '', search = '' } = URL.parse(url) ?? {}
  if (!/^smtps?:$/.test(protocol) || hostname === '' || !/^\/?$/.test(pathname) || search !== '')
    throw new ConfigError('SMTP_URL must be smtp://user:password@host:587, or smtps://user:password@host:465.')
  if (from === undefined)
    throw new ConfigError(
      'MAIL_FROM is missing, which SMTP_URL requires. Set it to the sender, such as id@example.com.',
    )
  const address = /^[^<>\p{Cc}]{1,100}<([^<>]+)>$/u.exec(from)?.[1] ?? from
  if (!isEmail(address))
    throw new ConfigError('MAIL_FROM must be an address such as id@example.com, or Example <id@example.com>.')
  return { by: 'smtp', url: new Secret(url), from }
}

function readDnsServers(text: string | undefined): string[] {
  const servers = text?.split(',').map((server) => server.trim()) ?? []
  try {
    new Resolver().setServers(servers)
  } catch {
    throw new ConfigError(
      'DNS_SERVERS must be addresses such as 10.0.0.53 or [2001:db8::53]:5353, comma-separated, or unset.',
    )
  }
  return servers
}

/** Parses the points of rate limits, such as `register-start=30,metadata=1200`, each for its own window. */
function readRateLimitNumbers(text: string | undefined): Record<string, number> {
  const numbers: Record<string, number> = {}
  for (const each of text?.split(',') ?? []) {
    const [, name = '', points] = /^([a-z-]+)=([1-9]\d{0,6})$/.exec(each.trim()) ?? []
    if (name === '') throw new ConfigError('RATE_LIMIT_NUMBERS must have the form register-start=30,metadata=1200.')
    numbers[name] = Number(points)
  }
  return numbers
}

function readLogFormat(text = 'auto'): LogFormat {
  if (text !== 'auto' && text !== 'json' && text !== 'text')
    throw new ConfigError('LOG_FORMAT must be one of auto, json, text.')
  return text
}

/** Checks whether the log is text for a reader, rather than JSON for programs. */
export function logsAsText({ logFormat, ...urls }: LogSettings, isTerminal: boolean): boolean {
  const isLocalService = [urls.baseUrl, urls.authUrl, urls.businessUrl].every(isLocal)
  return logFormat === 'auto' ? isTerminal && isLocalService : logFormat === 'text'
}
type LogSettings = Pick<Config, 'logFormat' | 'baseUrl' | 'authUrl' | 'businessUrl'>

function readSwitch(name: string, text: string): boolean {
  return readChoice(name, text, ['on', 'off']) === 'on'
}

function readChoice(name: string, text: string, choices: string[]): string {
  if (!choices.includes(text)) throw new ConfigError(`${name} must be one of ${choices.join(', ')}.`)
  return text
}

/** Version of this server, which responses carry in `Countersign-Version`. */
export const { version } = manifest
