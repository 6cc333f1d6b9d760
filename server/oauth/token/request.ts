import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import {
  type ClientCredentials,
  missing,
  parseClientCredentials,
} from '#clients/registration/authentication/authentication.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { RedeemGrant } from './grants/grant.ts'
import { grants, isGrantType } from './grants/grants.ts'

/** A parsed token request: who redeems a grant, the name of the grant, and its redemption. */
export type TokenGrantRequest = { credentials: ClientCredentials; grant: string; redeem: RedeemGrant }

const errors = defineErrors({
  unsupported_grant_type: [400, `Supported grant types: ${Object.keys(grants).join(', ')}.`],
})

/**
 * Parses a token request in either spelling and encoding (RFC 6749 §4.1.3, §6, RFC 8693 §2.1). A parameter without a
 * value counts as omitted (RFC 6749 §3.2). Throws `invalid_request`, `invalid_target`, `unsupported_grant_type`.
 */
export function parseTokenRequest(authorization: string | undefined, sent: TokenRequest): TokenGrantRequest {
  const body: TokenRequest = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
  const type = resolveFieldAlias(body.grant_type, body.grantType)
  if (!type) throw missing('grant_type')
  if (!isGrantType(type)) throw errors.unsupported_grant_type()
  const { name, parse } = grants[type]
  return { credentials: parseClientCredentials(authorization, body), grant: name, redeem: parse(body) }
}
