import type { TokenRequest } from '@countersign/protocol/oauth'
import type { ClientCredentials } from '#apps/client-authentication.ts'
import { refusals } from '#kernel/refusal.ts'
import { either, missing, readCredentials } from './client-credentials.ts'

export type CodeRedemption = {
  grant: 'authorization_code'
  credentials: ClientCredentials
  code: string
  redirectUri: string
  codeVerifier: string | undefined
}
export type Refreshment = {
  grant: 'refresh_token'
  credentials: ClientCredentials
  refreshToken: string
  scope: string | undefined
}

const refuse = refusals({
  invalid_request: [400, 'The token request is malformed.'],
  unsupported_grant_type: [400, 'The grant types are authorization_code and refresh_token.'],
})

const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/**
 * Reads a token request in either spelling and encoding (RFC 6749 §4.1.3, §6). Refuses `invalid_request`,
 * `unsupported_grant_type`.
 */
export function readTokenRequest(authorization: string | undefined, body: TokenRequest): CodeRedemption | Refreshment {
  const grant = either(body.grant_type, body.grantType)
  if (!grant) throw missing('grant_type')
  if (grant !== 'authorization_code' && grant !== 'refresh_token') throw refuse.unsupported_grant_type()

  const credentials = readCredentials(authorization, body)
  if (grant === 'refresh_token') {
    const refreshToken = either(body.refresh_token, body.refreshToken)
    if (!refreshToken) throw missing('refresh_token')
    return { grant, credentials, refreshToken, scope: body.scope }
  }
  const redirectUri = either(body.redirect_uri, body.redirectUri)
  const codeVerifier = either(body.code_verifier, body.codeVerifier)
  if (!body.code) throw missing('code')
  if (!redirectUri) throw missing('redirect_uri')
  if (codeVerifier !== undefined && !verifierPattern.test(codeVerifier))
    throw refuse.invalid_request({ sentence: 'code_verifier must be 43 to 128 of the unreserved characters.' })
  return { grant, credentials, code: body.code, redirectUri, codeVerifier }
}
