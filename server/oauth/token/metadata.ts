import { encryptionScopes, standardScopes } from '@countersign/protocol/formats/scope'
import type { Config } from '#platform/config/config.ts'
import { supportedClaims } from './claims.ts'
import { grants } from './grants/grants.ts'

const bySecret = ['client_secret_post', 'client_secret_basic']

/** Provider metadata of the token endpoint and its neighbours (RFC 8414 §2, OpenID Connect Discovery §3). */
export function tokenMetadata({ baseUrl }: Pick<Config, 'baseUrl'>) {
  const api = baseUrl.origin
  return {
    token_endpoint: `${api}/api/oauth/token`,
    token_endpoint_auth_methods_supported: [...bySecret, 'none'],
    grant_types_supported: Object.keys(grants),
    scopes_supported: [...standardScopes, ...encryptionScopes],
    revocation_endpoint: `${api}/api/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: [...bySecret, 'none'],
    introspection_endpoint: `${api}/api/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: [...bySecret],
    userinfo_endpoint: `${api}/api/oauth/userinfo`,
    claims_supported: supportedClaims,
    claim_types_supported: ['normal'],
  }
}
