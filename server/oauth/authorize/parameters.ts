import type { AuthorizationResponse, Prompt } from '@countersign/protocol/pages'
import { type ApiError, defineErrors } from '#platform/api-error.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { redirectUriOrigins } from '#clients/registration/settings.ts'
import { limits } from '@countersign/protocol/formats/limits'
import { toNumericDate } from '#platform/clock.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import type { PasskeySession, SsoSession, RecoveredSession } from '#accounts/sessions/session.ts'
import type { Parameters } from './authorization-request.ts'
import type { ConnectorRequest } from './connector.ts'
import { isEncryptionScope } from '@countersign/protocol/formats/scope'
import { ScopeSet } from '@countersign/protocol/scope-set'

/** Delivery of an answer to the app: in the query of its redirect URI, or as a form that the browser posts to it. */
export type ResponseMode = 'query' | 'form_post'

export const responseModes = ['query', 'form_post'] as const satisfies ResponseMode[]

type Fields = Record<string, string | undefined>

const errors = defineErrors({
  invalid_request: [400, 'response_mode must be query or form_post.'],
  invalid_redirect_uri: [400, 'redirect_uri is not the FedCM resolve page of this service.'],
  reauthentication_required: [403, 'The app requires you to use your passkey for this sign-in.'],
  login_required: [403, 'The app requires a more recent sign-in, and prompt=none forbids asking.'],
  invalid_scope: [400, 'scope contains a scope that this app is not allowed to request.'],
})

/** Parses the response mode; the default is `query`. Throws `invalid_request`. */
export function parseResponseMode(redirectUri: string, requested: string | undefined): ResponseMode {
  const mode = responseModes.find((each) => each === (requested ?? 'query'))
  if (!mode) throw errors.invalid_request()
  if (mode === 'form_post' && !isPostable(redirectUri))
    throw errors.invalid_request({ sentence: 'response_mode=form_post requires an http or https redirect_uri.' })
  return mode
}

/** Tells if a form can be posted to a redirect URI. */
export function isPostable(redirectUri: string): boolean {
  return /^https?:/.test(redirectUri)
}

/**
 * Builds an answer to the app (RFC 6749 §4.1.2, RFC 9207 §2): a URL to go to, or a URL with a form to post (OAuth 2.0
 * Form Post Response Mode §2). The query of the redirect URI is retained as it is registered (RFC 6749 §3.1.2).
 * Undefined parameters are omitted.
 */
export function buildAuthorizationResponse(
  redirectUri: string,
  mode: ResponseMode,
  fields: Fields,
): AuthorizationResponse {
  const given = Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
  if (mode === 'form_post') return { url: redirectUri, fields: given }
  // `searchParams.append` would encode the parameters of the registered query again, in another way.
  const { href } = new URL(redirectUri)
  const added = new URLSearchParams(given).toString()
  if (added === '') return { url: href }
  const separator = /[?&]$/.test(href) ? '' : href.includes('?') ? '&' : '?'
  return { url: href + separator + added }
}

/**
 * Returns the origin of the app's page that gets a FedCM answer, for the user to read. Throws `invalid_redirect_uri`
 * unless it is the origin of a registered redirect URI.
 */
export function fedcmRedirectUri(
  { redirectUris }: Pick<RegisteredApp, 'redirectUris'>,
  origin: string | undefined,
): string {
  if (origin === undefined || !redirectUriOrigins(redirectUris).includes(origin)) throw errors.invalid_redirect_uri()
  return origin
}

/** Returns the URL of the FedCM resolve page, which is the same for all apps. */
export function continuationPage(baseOrigin: string): string {
  return `${baseOrigin}/fedcm/resolve`
}

/**
 * Tells if a request continues a FedCM dialog in a window of this service. Throws `invalid_request` for parameters that
 * such a request cannot have, or if it asks for a resource as a connector.
 */
export function isFedcmContinuation(
  {
    fedcm_continue: mark,
    response_mode: mode,
    resource,
  }: Pick<Parameters, 'fedcm_continue' | 'response_mode' | 'resource'>,
  connector: ConnectorRequest | undefined,
): boolean {
  if (mark === undefined) return false
  if (mark !== '1' || mode !== undefined || resource !== undefined || connector !== undefined)
    throw errors.invalid_request({
      sentence: 'fedcm_continue must be 1 and cannot be combined with response_mode or resource.',
    })
  return true
}

/**
 * Tells if a continued FedCM request ends at the resolve page instead of a redirect URI of the app.
 *
 * The code delivered there is useless without the continuation, which is checked when it is finalized. Browsers cannot
 * know an app with a client metadata document by its origin, so such an app is excluded.
 */
export function isFedcmResolvePage(
  { metadataFetchedAt }: Pick<RegisteredApp, 'metadataFetchedAt'>,
  redirectUri: string,
  baseOrigin: string,
): boolean {
  return metadataFetchedAt === null && redirectUri === continuationPage(baseOrigin)
}

const prompts = ['none', 'login', 'consent', 'select_account'] as const satisfies Prompt[]

/** Parses the values of `prompt` (OpenID Connect Core §3.1.2.1). Throws `invalid_request`. */
export function parsePrompt(list: string | undefined): Prompt[] {
  const requested = new Set((list ?? '').split(' ').filter((value) => value !== ''))
  const known = prompts.filter((each) => requested.has(each))
  if (known.length < requested.size) throw errors.invalid_request({ sentence: 'prompt contains an unsupported value.' })
  if (requested.has('none') && requested.size > 1)
    throw errors.invalid_request({ sentence: 'prompt=none cannot be combined with another prompt.' })
  return known
}

/** Parses `max_age`, in seconds. Throws `invalid_request`. */
export function parseMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw errors.invalid_request({ sentence: 'max_age must be a whole number of seconds.' })
  return Number(text)
}

type ReauthenticationPolicy = { prompts: Prompt[]; maxAgeSeconds: number | undefined; requestUri: string | undefined }
type Proved =
  | Pick<PasskeySession | RecoveredSession, 'authMethod' | 'authTime' | 'provedRequestSha256'>
  | Pick<SsoSession, 'authMethod' | 'authTime'>

/**
 * Checks that the user's authentication is what the app requires (OpenID Connect Core §3.1.2.1).
 *
 * With `prompt=login` the passkey must have been used for this request. With `max_age` it must have been used for this
 * request, or at most that many seconds ago. A use for the request counts for some minutes, in which the user may read
 * the consent. A login at the identity provider of an organization proves neither: it may be of any age. Throws
 * `reauthentication_required`, or `login_required` if the user must not be asked.
 */
export function requireProof(requested: ReauthenticationPolicy, proved: Proved, now: Date): void {
  const { prompts: given, maxAgeSeconds } = requested
  if (!given.includes('login') && maxAgeSeconds === undefined) return
  // Counted in whole seconds like `auth_time`, so that the app gets the same result.
  const ageSeconds = toNumericDate(now) - toNumericDate(proved.authTime)
  if (isMadeFor(requested, proved) && ageSeconds <= limits.freshAuthenticationSeconds) return
  const isInTime = maxAgeSeconds !== undefined && ageSeconds <= maxAgeSeconds
  if (!given.includes('login') && isInTime && proved.authMethod !== 'enterprise_sso') return
  throw reauthenticationError(requested)
}

/** Returns `reauthentication_required`, or `login_required` if the user must not be asked. */
export function reauthenticationError({ prompts: given }: Pick<ReauthenticationPolicy, 'prompts'>): ApiError {
  return given.includes('none') ? errors.login_required() : errors.reauthentication_required()
}

function isMadeFor({ requestUri }: ReauthenticationPolicy, proved: Proved): boolean {
  if (requestUri === undefined || proved.authMethod === 'enterprise_sso' || proved.provedRequestSha256 === null)
    return false
  return equalBytes(proved.provedRequestSha256, sha256(requestUri))
}

type Allowing = Pick<RegisteredApp, 'allowedScopes' | 'supportsE2ee'>

/**
 * Parses a list of scopes. Throws `invalid_scope` if one is not in the app's allowlist (RFC 6749 §3.3).
 */
export function requireAllowedScopes(list: string, app: Allowing): ScopeSet {
  const scopes = ScopeSet.parse(list)
  const foreign = [...scopes].find((scope) => !allows(app, scope))
  if (foreign !== undefined)
    throw errors.invalid_scope({
      sentence: `scope contains ${quoted(foreign)}, which this app is not allowed to request.`,
    })
  return scopes
}

/**
 * Makes a scope safe for `error_description`: printable ASCII without quotes and backslashes (RFC 6749 §5.2), and
 * short.
 */
export function quoted(scope: string): string {
  return `'${scope.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 100)}'`
}

/** Returns the granted scopes that the app is still allowed: its allowlist may have shrunk since. */
export function effectiveScope(granted: ScopeSet, app: Allowing): ScopeSet {
  return granted.filter((scope) => allows(app, scope))
}

/**
 * Tells if an app may request a scope. The key scopes need no entry in the allowlist of an app that takes keys, and are
 * useless to others.
 */
function allows({ allowedScopes, supportsE2ee }: Allowing, scope: string): boolean {
  return isEncryptionScope(scope) ? supportsE2ee : allowedScopes.includes(scope)
}

/** Pattern for the part of BCP 47 that a hint needs. */
const languageTag = /^[A-Za-z0-9-]{2,35}$/
const languagesMax = 10

/** Parses the languages that an app prefers for the pages, most preferred first; invalid tags are ignored. */
export function parseUiLocales(uiLocales = ''): string[] {
  return uiLocales
    .split(' ')
    .filter((tag) => languageTag.test(tag))
    .slice(0, languagesMax)
}
