import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import type { ClientCredentials } from '#clients/registration/client-authentication.ts'
import { either } from '#platform/http/parse.ts'
import { refusals } from '#platform/refusal.ts'
import { missing, readCredentials } from '#clients/registration/client-credentials.ts'

export type CodeRedemption = {
  grant: 'authorization_code'
  credentials: ClientCredentials
  code: string
  redirectUri: string
  codeVerifier: string | undefined
  /** The address of the resource that the token shall be for (RFC 8707 §2.2); undefined where it is for us. */
  resource: string | undefined
}
export type Refreshment = {
  grant: 'refresh_token'
  credentials: ClientCredentials
  refreshToken: string
  scope: string | undefined
  resource: string | undefined
}

export type TokenExchange = {
  grant: 'token_exchange'
  credentials: ClientCredentials
  subjectToken: string
  resource: string
  scope: string | undefined
}
export type GrantRequest = CodeRedemption | Refreshment | TokenExchange

const refuse = refusals({
  invalid_request: [400, 'The token request is malformed.'],
  invalid_target: [400, 'The fields resource and audience name two targets.'],
  unsupported_grant_type: [400, 'The grant types are authorization_code, refresh_token and token exchange.'],
})

/** RFC 8693 §2.1 and §3. */
export const tokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const tokenTypes = ['urn:ietf:params:oauth:token-type:access_token', 'urn:ietf:params:oauth:token-type:jwt']

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/**
 * Reads a token request in either spelling and encoding (RFC 6749 §4.1.3, §6, RFC 8693 §2.1). A parameter without a
 * value counts as left out (RFC 6749 §3.2). Refuses `invalid_request`, `invalid_target`, `unsupported_grant_type`.
 */
export function readTokenRequest(authorization: string | undefined, sent: TokenRequest): GrantRequest {
  const body: TokenRequest = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
  const grant = either(body.grant_type, body.grantType)
  if (!grant) throw missing('grant_type')
  switch (grant) {
    case 'authorization_code':
      return readRedemption(readCredentials(authorization, body), body)
    case 'refresh_token':
      return readRefreshment(readCredentials(authorization, body), body)
    case tokenExchangeGrant:
      return readExchange(readCredentials(authorization, body), body)
    default:
      throw refuse.unsupported_grant_type()
  }
}

function readRefreshment(credentials: ClientCredentials, body: TokenRequest): Refreshment {
  const refreshToken = either(body.refresh_token, body.refreshToken)
  if (!refreshToken) throw missing('refresh_token')
  return { grant: 'refresh_token', credentials, refreshToken, scope: body.scope, resource: body.resource }
}

/** The types say nothing that the tokens don't; one that we could not take or give is refused all the same. */
function readExchange(credentials: ClientCredentials, body: TokenRequest): TokenExchange {
  const subjectToken = either(body.subject_token, body.subjectToken)
  if (!subjectToken) throw missing('subject_token')
  const types = [
    either(body.subject_token_type, body.subjectTokenType),
    either(body.requested_token_type, body.requestedTokenType),
  ]
  if (!types.every((type) => type === undefined || tokenTypes.includes(type)))
    throw refuse.invalid_request({ sentence: 'The only token types are access_token and jwt (RFC 8693 section 3).' })
  if (body.actor_token !== undefined)
    throw refuse.invalid_request({ sentence: 'The actor is the client: an actor_token is not supported.' })
  const { audience, resource = audience } = body
  if (!resource) throw missing('resource')
  if (audience !== undefined && audience !== resource) throw refuse.invalid_target()
  return { grant: 'token_exchange', credentials, subjectToken, resource, scope: body.scope }
}

function readRedemption(credentials: ClientCredentials, body: TokenRequest): CodeRedemption {
  const redirectUri = either(body.redirect_uri, body.redirectUri)
  const codeVerifier = either(body.code_verifier, body.codeVerifier)
  if (!body.code) throw missing('code')
  if (!redirectUri) throw missing('redirect_uri')
  if (codeVerifier !== undefined && !verifierPattern.test(codeVerifier))
    throw refuse.invalid_request({ sentence: 'code_verifier must be 43 to 128 of the unreserved characters.' })
  const { code } = body
  return { grant: 'authorization_code', credentials, code, redirectUri, codeVerifier, resource: body.resource }
}
