import { limits } from '@countersign/protocol/formats/limits'
import { isRequirableClaim } from '@countersign/protocol/formats/required-claims'
import { type ClientId, asId } from '@countersign/protocol/ids'
import type {
  AppKeyRequest,
  AuthorizationResponse,
  SignInView,
  Site,
  UnverifiedFault,
} from '@countersign/protocol/pages'
import type { AppDirectory, RegisteredApp } from '#clients/registration/directory.ts'
import { toPublicApp } from '#clients/registration/view/app-view.ts'
import { isClientIdUrl } from '#clients/registration/metadata-documents/metadata-document.ts'
import {
  requiresFreshConsent,
  unverifiedClientInfo,
} from '#clients/registration/metadata-documents/metadata-document-client.ts'
import { isRegisteredRedirectUri } from '#clients/registration/settings.ts'
import type { UsageCounter } from '#clients/usage/usage.ts'
import type { Database } from '#platform/database/database.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { parseJson } from '#platform/http/body.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import {
  type ResponseMode,
  buildAuthorizationResponse,
  fedcmRedirectUri,
  isFedcmContinuation,
  isFedcmResolvePage,
  isPostable,
  parseResponseMode,
  quoted,
} from './parameters.ts'
import { mannerOf, parseAppKeyRequest } from './app-key-request.ts'
import {
  type AuthorizationRequest,
  type Parameters,
  type ReceivedParameters,
  readAuthorizationRequest,
  requireSupported,
} from './authorization-request.ts'
import { type ConnectorRequest, toConnector, validateConnector } from './connector.ts'
import { parseIdTokenHint } from '#oauth/id-token-hint.ts'
import { repeated } from '#oauth/sent-parameters.ts'
import { requireKeepable } from './pushed-request.ts'

/**
 * Outcome of an authorization request: a page to show, or an error to return to the app.
 *
 * An error of an unverified app is shown first. An immediate redirect would lead from our origin to any other (RFC 9700
 * §4.11.2).
 */
export type SignInOutcome = { show: SignInView } | { leave: AuthorizationResponse; unverified?: UnverifiedFault }

type Reader = { db: Database; apps: AppDirectory; keys: SigningKeys; site: Site; usage: UsageCounter }

const errors = defineErrors({
  invalid_request: [400, 'The authorization request is malformed.'],
  invalid_client: [400, 'No active app has this client_id.'],
  invalid_redirect_uri: [400, 'redirect_uri does not exactly match a registered redirect URI.'],
})

/**
 * Checks an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
 *
 * An unknown client or redirect URI is rejected on a page for the user. Every other error is returned to the app at its
 * redirect URI. With `connector`, or if the request names a resource, the app also requests access to a resource of
 * another app.
 */
export async function resolveSignInRequest(
  { db, apps, keys, site, usage }: Reader,
  parameters: ReceivedParameters,
  connector?: ConnectorRequest,
): Promise<SignInOutcome> {
  const continues = isFedcmContinuation(parameters, connector)
  const { app, redirectUri } = await requireRegistered({ apps, site, usage }, parameters, continues)
  const givenTo = continues ? fedcmRedirectUri(app, parameters.fedcm_origin) : undefined
  const { state, response_mode: responseMode } = readAnswering(redirectUri, parameters)
  const answer = (mode: ResponseMode, error: string, sentence: string) =>
    buildAuthorizationResponse(redirectUri, mode, {
      error,
      error_description: sentence,
      state: echoable(state),
      iss: site.authUrl,
    })
  let mode: ResponseMode = 'query'
  try {
    mode = parseResponseMode(redirectUri, responseMode)
    requireOnce(parameters)
    requireSupported(parameters)
    requireKeepable({ parameters, ...(connector && { connector }) })
    const request = readAuthorizationRequest(app, { by: connector ? 'connect' : 'query', connector }, parameters)
    const unverified = unverifiedClientInfo(app, redirectUri)
    const withdrawn = {
      invalid_target: answer(mode, 'invalid_target', 'The resource is disabled.'),
      invalid_scope: answer(mode, 'invalid_scope', 'The resource no longer defines a requested scope.'),
    }
    const requested = {
      ...viewOf(app, request),
      ...(unverified && { unverified }),
      ...(requiresFreshConsent(app, redirectUri) && { asksAnew: true as const }),
      ...(givenTo !== undefined && { givenTo }),
      ...(await resolveHints({ keys, site }, request)),
      ...(request.connector && {
        connector: { ...toConnector(await validateConnector(db, request.connector)), withdrawn },
      }),
    }
    const denied = answer(mode, 'access_denied', 'The user denied the request.')
    const silently = {
      login_required: answer(mode, 'login_required', 'The user must sign in, and prompt=none forbids asking.'),
      account_selection_required: answer(
        mode,
        'account_selection_required',
        'The user must choose an identity, and prompt=none forbids asking.',
      ),
      consent_required: answer(mode, 'consent_required', 'The user must consent, and prompt=none forbids asking.'),
      interaction_required: answer(
        mode,
        'interaction_required',
        'The user must unlock a key or add a required claim, and prompt=none forbids asking.',
      ),
      access_denied: answer(mode, 'access_denied', 'The user has no access to this app.'),
    }
    const ends = { denied, ...(requested.prompts.includes('none') && { silently }) }
    return { show: { ...requested, ...ends, page: 'signin', site, redirectUri, formPost: mode === 'form_post' } }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message } = error
    usage.countError(app, code)
    const unverified = unverifiedClientInfo(app, redirectUri)
    const fault = unverified && { host: unverified.host, error: code, description: message }
    return { leave: answer(mode, code, message), ...(fault && { unverified: fault }) }
  }
}

/** Throws `invalid_request` for a repeated parameter (RFC 6749 §3.1). */
function requireOnce({ [repeated]: name }: ReceivedParameters): void {
  if (name !== undefined) throw errors.invalid_request({ sentence: `The parameter ${quoted(name)} is repeated.` })
}

/**
 * Checks a request that the app itself sends; throws every error that would otherwise be shown or redirected. A wrong
 * redirect URI is an `invalid_request` (RFC 9126 §2.3). A request object may contain it, so that it is reported first.
 */
export async function validateAuthorizationRequest(
  { db, apps, keys, site, usage }: Reader,
  parameters: Parameters,
): Promise<void> {
  if (isFedcmContinuation(parameters, undefined))
    throw errors.invalid_request({ sentence: 'Browsers cannot push authorization requests. Send it from the app.' })
  requireSupported(parameters)
  const { app } = await requireRegistered({ apps, site, usage }, parameters).catch(rethrowForPush)
  requireKeepable({ parameters })
  const request = readAuthorizationRequest(app, { by: 'push' }, parameters)
  viewOf(app, request)
  await resolveHints({ keys, site }, request)
  if (request.connector) await validateConnector(db, request.connector)
}

function rethrowForPush(error: unknown): never {
  if (!(error instanceof ApiError && error.code === 'invalid_redirect_uri')) throw error
  throw errors.invalid_request({ sentence: error.message, fields: error.fields })
}

/**
 * Makes a received text printable for the developer to compare: other characters than printable ASCII become numbers,
 * and the length is limited.
 */
function visible(text: string): string {
  return text
    .slice(0, 500)
    .replaceAll(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/**
 * Returns the app and its redirect URI. Throws `invalid_client` and `invalid_redirect_uri`, which quote the received
 * value.
 */
async function requireRegistered(
  { apps, site, usage }: Pick<Reader, 'apps' | 'site' | 'usage'>,
  { client_id: clientId = '', redirect_uri: redirectUri = '' }: Parameters,
  continues = false,
): Promise<{ app: RegisteredApp; redirectUri: string }> {
  const named = { fields: { client_id: visible(clientId), redirect_uri: visible(redirectUri) } }
  const app = await apps.find(asId<ClientId>(clientId)).catch((error: unknown) => rethrowNamed(error, named))
  if (!app) throw errors.invalid_client(named)
  const mayReturn = continues
    ? isFedcmResolvePage(app, redirectUri, site.baseUrl)
    : isRegisteredRedirectUri(app, redirectUri, site)
  if (mayReturn) return { app, redirectUri }
  usage.countError(app, 'invalid_redirect_uri')
  throw errors.invalid_redirect_uri({ fields: { ...named.fields, ...publicNames(app) } })
}

/** Adds what the app sent to the reason why its client metadata document was refused. */
function rethrowNamed(error: unknown, named: { fields: Record<string, string> }): never {
  if (!(error instanceof ApiError && error.code === 'invalid_client')) throw error
  throw errors.invalid_client({ sentence: error.message, ...named })
}

/** Returns what names a registered app to users. An unregistered one names itself, so it is left out. */
function publicNames({ clientId, name, websiteUrl }: RegisteredApp): Record<string, string> {
  if (isClientIdUrl(clientId)) return {}
  return { app_name: name, ...(websiteUrl !== null && { app_website: websiteUrl }) }
}

/** Parts of the view that the request itself decides. Throws `invalid_request`, `invalid_scope`. */
function viewOf(app: RegisteredApp, request: AuthorizationRequest) {
  const { state, nonce, pkce, prompts, maxAgeSeconds, organization, languages, keyRecipient: recipient } = request
  const { scope, keyWish } = parseAppKeyRequest(app, request.scope, mannerOf(request))
  if (recipient && !keyWish) throw errors.invalid_request({ sentence: 'This app takes no key. Omit app_key_jwk.' })
  const requiredClaims = app.requiredClaims.filter(isRequirableClaim)
  const key: AppKeyRequest | undefined = keyWish && { ...keyWish, ...(recipient && { recipient }) }
  return {
    app: toPublicApp(app),
    scope: [...scope],
    ...(app.organizationAccess !== 'none' && { organizationAccess: app.organizationAccess }),
    ...(requiredClaims.length > 0 && { requiredClaims }),
    ...(key && { key }),
    ...(organization !== undefined && { organization }),
    ...(state !== undefined && { state }),
    ...(nonce !== undefined && { nonce }),
    ...(pkce.method === 'S256' && { codeChallenge: pkce.challenge }),
    prompts,
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    languages,
  }
}

/** Parses which user should sign in: by identity ID, by ID token, or by handle. */
async function resolveHints(
  { keys, site }: { keys: SigningKeys; site: Site },
  { clientId, hints: { idToken: hint, identityId: named, login: loginHint } }: AuthorizationRequest,
): Promise<{ identityId?: string; loginHint?: string }> {
  const hinted = hint === undefined ? undefined : await parseIdTokenHint({ keys, issuer: site.authUrl }, hint)
  if (hint !== undefined && hinted?.clientId !== clientId)
    throw errors.invalid_request({ sentence: 'id_token_hint is not an ID token issued to this app by this issuer.' })
  if (hinted && named !== undefined && hinted.identityId !== named)
    throw errors.invalid_request({ sentence: 'id_token_hint and identity_id name different identities.' })
  const identityId = hinted?.identityId ?? named
  return { ...(identityId !== undefined && { identityId }), ...(loginHint !== undefined && { loginHint }) }
}

/** Omits a state that is too long from the answer, because a truncated state would be a different one. */
function echoable(state: string | undefined): string | undefined {
  return state !== undefined && state.length <= limits.stateCharactersMax ? state : undefined
}

/** Response parameters that a request object may contain. */
type Answering = Pick<Parameters, 'state' | 'response_mode'>

/**
 * Reads how to answer a request that is rejected because of its request object (OpenID Connect Core §6.1).
 *
 * An app may put `state` and `response_mode` only into the object. The object is not verified and not used for anything
 * else: both parameters could be in the URL as well. Unreadable or unusable values are ignored.
 */
function readAnswering(
  redirectUri: string,
  { request, state: outerState, response_mode: outerMode }: Answering & Pick<Parameters, 'request'>,
): Answering {
  const { state, response_mode: mode } = request === undefined ? {} : payloadOf(request)
  const isUsable = mode === 'query' || (mode === 'form_post' && isPostable(redirectUri))
  return { state: typeof state === 'string' ? state : outerState, response_mode: isUsable ? mode : outerMode }
}

/** Returns the unverified claims of a JWS in compact form (RFC 7515 §7.1); an empty object for any other text. */
function payloadOf(request: string): Record<string, unknown> {
  const [, payload = '', ...rest] = request.split('.')
  if (rest.length !== 1) return {}
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch (error) {
    if (error instanceof ApiError) return {}
    throw error
  }
}
