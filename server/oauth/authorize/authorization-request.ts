import type { Prompt } from '@countersign/protocol/pages'
import type { PushedRequest } from '@countersign/protocol/oauth/pushed-requests'
import { limits } from '@countersign/protocol/formats/limits'
import { type RecipientKey, parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { type ClientId, type OrganizationId, isId } from '@countersign/protocol/ids'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Repeating } from '#oauth/sent-parameters.ts'
import { type ConnectorRequest, parseResourceIndicator } from './connector.ts'
import {
  type ResponseMode,
  isFedcmContinuation,
  parseMaxAge,
  parsePrompt,
  parseResponseMode,
  parseUiLocales,
  requireAllowedScopes,
} from './parameters.ts'

/** Names of the parameters of an authorization request, whatever its source. */
export type ParameterName = Exclude<keyof PushedRequest, 'client_secret' | 'clientId' | 'clientSecret'> | 'fedcm_origin'

/** Parameters of an authorization request as received, each at most once. Others are ignored (RFC 6749 §3.1). */
export type Parameters = { [Name in ParameterName]?: string | undefined }

/** The same, with the name of a repeated parameter. */
export type ReceivedParameters = Parameters & Repeating

/**
 * Source of a request: a browser at `/signin` or `/connect`, its app (RFC 9126), the database, or the sign-in page.
 * Where the source names the resource outside of the parameters, it has a connector.
 */
export type Source = { by: 'query' | 'push' | 'connect' | 'store' | 'page'; connector?: ConnectorRequest | undefined }

/** PKCE of a request (RFC 7636 §4.3). S256 is the only method; a confidential client may send none. */
export type Pkce = { method: 'S256'; challenge: string } | { method: 'none' }

/** Authorization request of an app, parsed. `scope` does not contain the scopes of the resource of `connector`. */
export type AuthorizationRequest = {
  clientId: ClientId
  redirectUri: string
  mode: ResponseMode
  scope: ScopeSet
  connector: ConnectorRequest | undefined
  state: string | undefined
  nonce: string | undefined
  pkce: Pkce
  prompts: Prompt[]
  maxAgeSeconds: number | undefined
  /** ID of the organization for which the app is used, or `select` if the user is to choose. */
  organization: OrganizationId | 'select' | undefined
  keyRecipient: RecipientKey | undefined
  /** Hints which user should sign in, as received. */
  hints: { idToken: string | undefined; identityId: string | undefined; login: string | undefined }
  languages: string[]
  /** True if the request continues a FedCM dialog, and the origin of the app's page that gets its answer. */
  isFedcmContinuation: boolean
  fedcmOrigin: string | undefined
}

const errors = defineErrors({
  invalid_request: [400, 'The authorization request is malformed.'],
  unsupported_response_type: [400, 'response_type must be code.'],
  request_not_supported: [400, 'The request parameter (JWT request object) is not supported.'],
  request_uri_not_supported: [400, 'request_uri must come from the pushed authorization request endpoint.'],
  registration_not_supported: [400, 'The parameter registration is not supported.'],
})

const challengePattern = /^[A-Za-z0-9_-]{43}$/

/**
 * Parses an authorization request of a registered app, whatever its source (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID
 * Connect Core §3.1.2.1). The caller has checked the redirect URI. A parameter that this function does not read does
 * not compile. Throws `invalid_request`, `unsupported_response_type`, `request_not_supported`,
 * `request_uri_not_supported`, `registration_not_supported`, `invalid_scope`, `invalid_target`.
 */
export function readAuthorizationRequest(app: RegisteredApp, source: Source, raw: Parameters): AuthorizationRequest {
  const { client_id: _registered, redirect_uri: redirectUri = '', response_mode, response_type, ...others } = raw
  const { code_challenge, code_challenge_method, state, nonce, scope: list = '', resource, ...rest } = others
  const { request, request_uri, registration, prompt, max_age, organization_id, app_key_jwk, ...remaining } = rest
  const { id_token_hint: idToken, identity_id: identityId, login_hint: login, ui_locales, ...last } = remaining
  const { fedcm_continue, fedcm_origin: fedcmOrigin, ...unread } = last
  requireAllRead(unread)

  requireSupported({ request, request_uri, registration })
  const mode = parseResponseMode(redirectUri, response_mode)
  requireResponseType(source, { response_type, code_challenge })
  const indicated = source.connector ? undefined : parseResourceIndicator({ resource, scope: list })
  const maxAgeSeconds = parseMaxAge(max_age)
  const pkce = parsePkce(app, code_challenge, code_challenge_method)
  validateStateAndNonce(state, nonce)
  return {
    clientId: app.clientId,
    redirectUri,
    mode,
    scope: requireAllowedScopes(indicated?.scope ?? list, app),
    connector: source.connector ?? indicated?.connector,
    state,
    nonce,
    pkce,
    prompts: parsePrompt(prompt),
    maxAgeSeconds,
    organization: parseOrganization(organization_id),
    keyRecipient: parseKeyRecipient(app_key_jwk),
    hints: { idToken, identityId, login },
    languages: parseUiLocales(ui_locales),
    isFedcmContinuation: isFedcmContinuation({ fedcm_continue, response_mode, resource }, source.connector),
    fedcmOrigin,
  }
}

/** Does not compile if a parameter is left. Unknown parameters that were sent are left, and ignored. */
export function requireAllRead(_unread: Record<string, never>): void {}

export function requireSupported(sent: Pick<Parameters, 'request' | 'request_uri' | 'registration'>): void {
  if (sent.request !== undefined) throw errors.request_not_supported()
  if (sent.request_uri !== undefined) throw errors.request_uri_not_supported()
  if (sent.registration !== undefined) throw errors.registration_not_supported()
}

/**
 * Checks the response type; only the code flow is supported.
 *
 * A request may omit `response_type` if it has a `code_challenge`, which only the code flow uses (RFC 7636 §4.3), and
 * at the connector endpoint. The page and the database hold only requests that were checked. Throws `invalid_request`,
 * `unsupported_response_type`.
 */
function requireResponseType(
  { by }: Source,
  { response_type: type, code_challenge: challenge }: Pick<Parameters, 'response_type' | 'code_challenge'>,
): void {
  const isImplied = challenge !== undefined || (by !== 'query' && by !== 'push')
  if (type === undefined && !isImplied)
    throw errors.invalid_request({
      sentence: 'response_type is missing. It can be omitted only with a code_challenge.',
    })
  if (type !== undefined && type !== 'code') throw errors.unsupported_response_type()
}

/** Parses the PKCE challenge; S256 is the only method, and a public app must send one. Throws `invalid_request`. */
export function parsePkce(
  app: Pick<RegisteredApp, 'isPublic'>,
  challenge: string | undefined,
  method: string | undefined,
): Pkce {
  if (challenge === undefined && method !== undefined)
    throw errors.invalid_request({ sentence: 'code_challenge_method requires a code_challenge.' })
  if (challenge === undefined && app.isPublic)
    throw errors.invalid_request({ sentence: 'A public app must send a code_challenge.' })
  if (challenge === undefined) return { method: 'none' }
  if (method !== undefined && method !== 'S256')
    throw errors.invalid_request({ sentence: 'code_challenge_method must be S256.' })
  if (!challengePattern.test(challenge))
    throw errors.invalid_request({ sentence: 'code_challenge must be 43 characters of base64url.' })
  return { method: 'S256', challenge }
}

/** Throws `invalid_request` for a state or nonce that is too long to be returned unchanged. */
export function validateStateAndNonce(state: string | undefined, nonce: string | undefined): void {
  if (state !== undefined && state.length > limits.stateCharactersMax)
    throw errors.invalid_request({ sentence: `state must be at most ${limits.stateCharactersMax} characters.` })
  if (nonce !== undefined && nonce.length > limits.nonceCharactersMax)
    throw errors.invalid_request({ sentence: `nonce must be at most ${limits.nonceCharactersMax} characters.` })
}

/** Parses the organization that the app requests; with `select` the user chooses one. Throws `invalid_request`. */
function parseOrganization(text: string | undefined): OrganizationId | 'select' | undefined {
  const organization = text?.toLowerCase()
  if (organization === undefined || organization === 'select' || isId<OrganizationId>(organization)) return organization
  throw errors.invalid_request({ sentence: 'organization_id must be the ID of an organization, or select.' })
}

function parseKeyRecipient(text: string | undefined): RecipientKey | undefined {
  if (text === undefined) return undefined
  const recipient = parseRecipientKey(text)
  if (!recipient)
    throw errors.invalid_request({ sentence: 'app_key_jwk must be a public JWK of X25519 or P-256, in base64url.' })
  return recipient
}
