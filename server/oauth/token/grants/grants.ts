import { authorizationCodeGrant } from './code-grant.ts'
import { tokenExchangeGrant } from './exchange-grant.ts'
import type { Grant } from './grant.ts'
import { refreshTokenGrant } from './refresh-grant.ts'

/**
 * The grants of the token endpoint by their `grant_type`. Parsing, redemption, the provider metadata, the error message
 * for other grant types and the metrics are derived from these rows.
 */
export const grants = {
  authorization_code: authorizationCodeGrant,
  refresh_token: refreshTokenGrant,
  'urn:ietf:params:oauth:grant-type:token-exchange': tokenExchangeGrant,
} satisfies Record<string, Grant>

export type GrantType = keyof typeof grants

export function isGrantType(text: string): text is GrantType {
  return Object.hasOwn(grants, text)
}
