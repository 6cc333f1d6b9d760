import { isLocal } from '#platform/config/config.ts'
import { isOfThisService } from '#platform/pictures/picture.ts'
import { hasPlainHost, isPlainOrigin } from '#platform/origin.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { AccessChange, AppAccess } from './access/access.ts'
import type { RegisteredApp } from './directory.ts'
import type { AppChange } from '@countersign/protocol/clients/apps'
import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { limits } from '@countersign/protocol/formats/limits'
import { defaultAllowedScopes } from '@countersign/protocol/formats/scope'
import { type ClientId, asId } from '@countersign/protocol/ids'
import type { ServerContext } from '#platform/module/services.ts'
import type { OutboundClient } from '#platform/outbound/fetch.ts'
import { type Lagging, always, never, whereNoLess, whereNoneIsGone, whereOn } from './settings-change.ts'

const errors = defineErrors({
  invalid_redirect_uri: [400, 'A redirect URI is not allowed.'],
  invalid_request: [400, 'Invalid app settings.'],
})

/** Matches a private-use scheme, a reversed domain name: `com.example.app:` (RFC 8252 §7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Kind of URI that an app can redirect a browser to: with a response, or after logout. */
type Kind = 'redirect URI' | 'post-logout redirect URI'

/** Client ID of the playground app, which exists while `DEMO` is on. */
export const playgroundClientId = asId<ClientId>('app_playground')

/** The app of the playground whose notes are encrypted. Only this one gets a key, so only its sign-in unlocks keys. */
export const playgroundNotesClientId = asId<ClientId>('app_playground_notes')

/** The only apps that redirect to a page of this service. */
const appsOfOurPages = [playgroundClientId, playgroundNotesClientId]

/** The three base URLs of this service, as settings or pages have them. */
export type Ours = Record<'baseUrl' | 'authUrl' | 'businessUrl', URL | string>

/**
 * Checks whether a URL is on a host of this service. No other app may redirect here: a redirect from a page of this
 * service would look like an action of the service.
 */
function isOurs(uri: string, { baseUrl, authUrl, businessUrl }: Ours): boolean {
  const url = URL.parse(uri)
  return url !== null && [baseUrl, authUrl, businessUrl].some((ours) => hostOf(new URL(ours)) === hostOf(url))
}

/** Returns host and port. A trailing dot does not change a host name (RFC 1034 §3.1). */
const hostOf = ({ hostname, port }: URL) => `${hostname.replace(/\.$/, '')}:${port}`

/**
 * Checks whether an app may redirect to this URI: it is registered, and it is not on a host of this service, regardless
 * of when it was registered.
 */
export function isRegisteredRedirectUri(app: RedirectingApp, uri: string, ours: Ours): boolean {
  return isRegistered(app, uri) && !isOfAnother(app, uri, ours)
}

function isOfAnother({ clientId }: Pick<RegisteredApp, 'clientId'>, uri: string, ours: Ours): boolean {
  return !appsOfOurPages.includes(clientId) && isOurs(uri, ours)
}

/**
 * Checks whether an app has registered exactly this redirect URI (RFC 9700 §2.1). Public apps with
 * `allowAnyLoopbackPort` and metadata document clients can use any port of a registered loopback address (RFC 8252
 * §7.3). They cannot know which port is free on a user's device.
 */
function isRegistered(app: PortFreeingApp, uri: string): boolean {
  const { redirectUris } = app
  if (redirectUris.includes(uri)) return true
  const portless = freesLoopbackPort(app) ? withoutLoopbackPort(uri) : undefined
  return portless !== undefined && redirectUris.some((registered) => withoutLoopbackPort(registered) === portless)
}

type PortFreeingApp = Pick<RegisteredApp, 'redirectUris' | 'metadataFetchedAt' | 'isPublic' | 'allowAnyLoopbackPort'>
type RedirectingApp = PortFreeingApp & Pick<RegisteredApp, 'clientId'>

function freesLoopbackPort({ metadataFetchedAt, isPublic, allowAnyLoopbackPort }: PortFreeingApp): boolean {
  return metadataFetchedAt !== null || (isPublic && allowAnyLoopbackPort)
}

/**
 * Checks whether a redirect URI matches a registered one except for its port, so that any program on the device could
 * receive the response.
 */
export function usesFreedPort(app: PortFreeingApp, uri: string): boolean {
  return !app.redirectUris.includes(uri) && isRegistered(app, uri)
}

/**
 * Returns a loopback URI without its port, such as `http://127.0.0.1/x` for `http://127.0.0.1:3000/x`. Returns
 * undefined for other URIs.
 */
function withoutLoopbackPort(uri: string): string | undefined {
  const [, host, port = '', rest] =
    /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?([/?][\x21-\x7e]*)?$/.exec(uri) ?? []
  if (host === undefined || Number(port) > 65_535 || uri.includes('#') || uri.includes('\\')) return undefined
  return host + (rest ?? '')
}

/** Checks whether an app has registered this post-logout redirect URI (OpenID Connect RP-Initiated Logout §3). */
export function isRegisteredPostLogoutRedirectUri(
  app: Pick<RegisteredApp, 'clientId' | 'postLogoutRedirectUris'>,
  uri: string,
  ours: Ours,
): boolean {
  return app.postLogoutRedirectUris.includes(uri) && !isOfAnother(app, uri, ours)
}

/**
 * Throws `invalid_redirect_uri` for a URI that must not be registered. Allowed are https, http on this machine, and
 * private-use schemes for public apps (RFC 8252 §7.1). URIs whose parsed origin differs from their text are rejected,
 * because users and comparisons see the text. URIs of this service are rejected too.
 */
export function requireRedirectUri(
  uri: string,
  { isPublic, ours, kind = 'redirect URI' }: { isPublic: boolean; ours: Ours; kind?: Kind },
): void {
  const because = (rule: string) => errors.invalid_redirect_uri({ sentence: `A ${kind} ${rule}` })
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\*]/.test(uri))
    throw because('must consist of visible ASCII characters, without backslash or asterisk.')
  if (uri.includes('#')) throw because('must not have a fragment.')

  const url = URL.parse(uri)
  if (!url) throw because('must be an absolute URL.')
  if (url.username !== '' || url.password !== '') throw because('must not have a user name or password.')
  if (isPublic && privateUseScheme.test(url.protocol) && uri.startsWith(`${url.protocol}/`)) return

  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal(url)))
    throw because('must start with https://, or http:// on localhost. Public apps may use their own scheme.')
  if (!hasPlainHost(url)) throw because('must have a host of letters, digits, hyphens and dots.')
  if (!startsWithOrigin(uri, url.origin)) throw because(`must start with its normalized origin: ${url.origin}`)
  if (isOurs(uri, ours)) throw because('must not be on a host of this service.')
}

/**
 * Returns the distinct origins of redirect URIs. Private-use schemes and origins that cannot be in a header are left
 * out.
 */
export function redirectUriOrigins(redirectUris: string[]): string[] {
  return [...new Set(redirectUris.map((uri) => new URL(uri).origin))].filter(isPlainOrigin)
}

export function startsWithOrigin(uri: string, origin: string): boolean {
  return uri.startsWith(origin) && /^(?:[/?]|$)/.test(uri.slice(origin.length))
}

/** Settings of an app that can be changed later. */
export type AppSettings = Omit<
  RegisteredApp,
  | 'clientId'
  | 'ownerUserId'
  | 'ownerIdentityId'
  | 'isPublic'
  | 'disabledByOperator'
  | 'secretsSha256'
  | 'secretsEndAt'
  | 'metadataFetchedAt'
  | 'roleGroupIds'
  | 'claims'
  | 'createdAt'
  | 'updatedAt'
>
/** Given settings of an app. Its access may be given in part. */
export type AppSettingsChange = Partial<Omit<AppSettings, 'access'>> & { access?: AccessChange }
export type NewAppSettings = Pick<AppSettings, 'name' | 'redirectUris'> & AppSettingsChange

/** Maps request fields to settings. Fields that were not sent stay absent. */
export function settingsOf(sent: AppChange): AppSettingsChange {
  const { idTokenSignedResponseAlg, accessTokenTtlSeconds, refreshTokenTtlSeconds, color, groupsClaim, ...namedAlike } =
    sent
  return {
    ...namedAlike,
    ...(color !== undefined && { color: color?.toLowerCase() ?? null }),
    ...(groupsClaim && { groupsClaim: groupsClaim.include }),
    ...(idTokenSignedResponseAlg !== undefined && { idTokenSignedResponseAlg: idTokenSignedResponseAlg }),
    ...(accessTokenTtlSeconds !== undefined && { accessTokenTtlSeconds: accessTokenTtlSeconds }),
    ...(refreshTokenTtlSeconds !== undefined && { refreshTokenTtlSeconds: refreshTokenTtlSeconds }),
  }
}

/** Changes of an app that other processes may apply some seconds later: of display text, and those that only add. */
export const laggingAppSettings: Lagging<AppSettings> = {
  name: always,
  description: always,
  iconUrl: always,
  color: always,
  websiteUrl: always,
  privacyUrl: always,
  termsUrl: always,
  redirectUris: whereNoneIsGone,
  postLogoutRedirectUris: whereNoneIsGone,
  allowedScopes: whereNoneIsGone,
  accessTokenTtlSeconds: whereNoLess,
  refreshTokenTtlSeconds: whereNoLess,
  supportsE2ee: whereOn,
  appKeyRecipientJwk: never,
  allowAnyLoopbackPort: whereOn,
  status: never,
  idTokenSignedResponseAlg: never,
  requireAuthTime: never,
  idTokenClaims: never,
  requiredClaims: never,
  organizationAccess: never,
  backchannelLogoutUri: never,
  backchannelLogoutSessionRequired: never,
  access: never,
  groupsClaim: never,
}

const openAccess: AppAccess = { mode: 'everyone', contact: null, groups: [], organizations: [] }

/** Default settings of an app. RS256 is the default of OpenID Connect Registration §2. */
export const defaultSettings: Omit<AppSettings, 'name' | 'redirectUris'> &
  Pick<RegisteredApp, 'roleGroupIds' | 'claims'> = {
  description: null,
  iconUrl: null,
  color: null,
  websiteUrl: null,
  privacyUrl: null,
  termsUrl: null,
  postLogoutRedirectUris: [],
  allowedScopes: [...defaultAllowedScopes],
  supportsE2ee: false,
  appKeyRecipientJwk: null,
  status: 'active',
  idTokenSignedResponseAlg: 'RS256',
  accessTokenTtlSeconds: limits.accessTokenLifetimeSeconds,
  refreshTokenTtlSeconds: limits.refreshTokenIdleSeconds,
  requireAuthTime: false,
  idTokenClaims: true,
  requiredClaims: [],
  organizationAccess: 'create',
  backchannelLogoutUri: null,
  backchannelLogoutSessionRequired: false,
  allowAnyLoopbackPort: false,
  access: openAccess,
  groupsClaim: 'assigned',
  roleGroupIds: [],
  claims: [],
}

const webUrls = ['iconUrl', 'websiteUrl', 'privacyUrl', 'termsUrl'] as const

/**
 * Throws `invalid_redirect_uri`, or `invalid_request` with the field, for settings that could disguise an app or
 * mislead users.
 */
export function validateAppSettings(
  { isPublic, ...settings }: AppSettingsChange & { isPublic: boolean },
  { outbound, config: ours }: Pick<ServerContext, 'config'> & { outbound: Pick<OutboundClient, 'objectionTo'> },
): void {
  if (settings.name !== undefined && !isDisplayName(settings.name))
    throw errors.invalid_request({ sentence: 'name must be 1 to 80 visible characters.' })
  if (settings.description && !isShown(settings.description))
    throw errors.invalid_request({ sentence: 'description contains an invisible character.' })

  if (settings.appKeyRecipientJwk && !parseRecipientKey(settings.appKeyRecipientJwk))
    throw errors.invalid_request({
      sentence: 'appKeyRecipientJwk must be a public JWK of X25519 or P-256, in base64url.',
    })
  for (const field of webUrls) if (settings[field]) requireWebUrl(field, settings[field])
  const { backchannelLogoutUri } = settings
  const objection = backchannelLogoutUri ? outbound.objectionTo(backchannelLogoutUri) : undefined
  if (objection !== undefined) throw errors.invalid_request({ sentence: `backchannelLogoutUri ${objection}.` })
  if (settings.allowAnyLoopbackPort && !isPublic)
    throw errors.invalid_request({
      sentence: 'allowAnyLoopbackPort is only allowed for public apps, which run on a user’s device.',
    })
  for (const uri of settings.redirectUris ?? []) requireRedirectUri(uri, { isPublic, ours })
  for (const uri of settings.postLogoutRedirectUris ?? [])
    requireRedirectUri(uri, { isPublic, ours, kind: 'post-logout redirect URI' })
}

/** Throws `invalid_request` if an app would show a picture that was uploaded for another one. */
export function requireForeignIcon(
  { iconUrl }: Pick<AppSettingsChange, 'iconUrl'>,
  { baseUrl }: { baseUrl: URL },
): void {
  if (iconUrl && isOfThisService(baseUrl, iconUrl))
    throw errors.invalid_request({
      sentence: 'iconUrl is a URL of this service: upload the picture with PUT .../icon instead.',
    })
}

function requireWebUrl(field: string, text: string): void {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url))
  if (!url || !isSafe || !hasPlainHost(url) || url.username !== '' || url.password !== '')
    throw errors.invalid_request({ sentence: `${field} must start with https://, or http:// on localhost.` })
}
