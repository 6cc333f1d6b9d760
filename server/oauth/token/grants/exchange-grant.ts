import type { TokenRequest } from '@countersign/protocol/oauth/authorize'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { missing } from '#clients/registration/authentication/authentication.ts'
import { exchange, type Exchange } from '#oauth/delegation/exchange.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'
import { defineErrors } from '#platform/api-error.ts'
import { defineGrant } from './grant.ts'

const errors = defineErrors({
  invalid_request: [400, 'The token request is malformed.'],
  invalid_target: [400, 'resource and audience name different targets.'],
})

/** RFC 8693 §3. */
const tokenTypes = ['urn:ietf:params:oauth:token-type:access_token', 'urn:ietf:params:oauth:token-type:jwt']

/** The grant `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693 §2.1). */
export const tokenExchangeGrant = defineGrant({
  name: 'token_exchange',
  clients: 'confidential',
  parse: parseTokenExchange,
  redeem: exchange,
})

/**
 * Parses a token exchange. The token types add nothing to the tokens themselves, but an unsupported type is still
 * rejected.
 */
function parseTokenExchange(body: TokenRequest): Exchange {
  const subjectToken = resolveFieldAlias(body.subject_token, body.subjectToken)
  if (!subjectToken) throw missing('subject_token')
  const types = [
    resolveFieldAlias(body.subject_token_type, body.subjectTokenType),
    resolveFieldAlias(body.requested_token_type, body.requestedTokenType),
  ]
  if (!types.every((type) => type === undefined || tokenTypes.includes(type)))
    throw errors.invalid_request({
      sentence: 'The only supported token types are access_token and jwt (RFC 8693 section 3).',
    })
  if (body.actor_token !== undefined)
    throw errors.invalid_request({ sentence: 'actor_token is not supported. The actor is always the client.' })
  const { audience, resource = audience, scope } = body
  if (!resource) throw missing('resource')
  if (audience !== undefined && audience !== resource) throw errors.invalid_target()
  return { subjectToken, resource, scope: scope === undefined ? undefined : ScopeSet.parse(scope) }
}
