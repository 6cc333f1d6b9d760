import { encryptionScopes, standardScopes } from '@countersign/protocol/formats/scope'
import type { ProviderMetadata } from '@countersign/protocol/oauth/provider-metadata'
import type { Config } from '#platform/config/config.ts'
import { algorithms } from '#tokens/signing-keys/signing-keys.ts'
import { responseModes } from '#oauth/authorize/answer.ts'
import { tokenExchangeGrant } from '#oauth/token/request.ts'

const claimsOfTheSignIn = 'iss sub aud azp exp iat auth_time nonce amr acr sid at_hash'.split(' ')
const claimsOfTheIdentity =
  'name preferred_username picture updated_at email email_verified user_id organization'.split(' ')
const bySecret = ['client_secret_post', 'client_secret_basic']

/**
 * What this provider does, and where; only what is true (OpenID Connect Discovery §3, RFC 8414 §2, RFC 9207 §3,
 * OAuth Client ID Metadata Document §5).
 */
export function providerMetadata({
  authUrl,
  baseUrl,
  clientDocuments,
}: Pick<Config, 'authUrl' | 'baseUrl' | 'clientDocuments'>): ProviderMetadata {
  const auth = authUrl.origin
  const api = baseUrl.origin
  return {
    issuer: auth,
    authorization_endpoint: `${auth}/signin`,
    pushed_authorization_request_endpoint: `${api}/api/oauth/par`,
    require_pushed_authorization_requests: false,
    token_endpoint: `${api}/api/oauth/token`,
    end_session_endpoint: `${auth}/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    userinfo_endpoint: `${api}/api/oauth/userinfo`,
    jwks_uri: `${auth}/.well-known/jwks.json`,
    scopes_supported: [...standardScopes, ...encryptionScopes],
    response_types_supported: ['code'],
    response_modes_supported: [...responseModes],
    grant_types_supported: ['authorization_code', 'refresh_token', tokenExchangeGrant],
    subject_types_supported: ['public'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    id_token_signing_alg_values_supported: [...algorithms],
    token_endpoint_auth_methods_supported: [...bySecret, 'none'],
    revocation_endpoint: `${api}/api/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: [...bySecret, 'none'],
    introspection_endpoint: `${api}/api/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: [...bySecret],
    code_challenge_methods_supported: ['S256'],
    claims_supported: [...claimsOfTheSignIn, ...claimsOfTheIdentity],
    claim_types_supported: ['normal'],
    ui_locales_supported: ['en', 'de'],
    acr_values_supported: ['phr'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...(clientDocuments && { client_id_metadata_document_supported: true }),
    service_documentation: `${api}/docs`,
  }
}
