import { parseJson } from '#platform/http/parse.ts'
import { Refusal } from '#platform/refusal.ts'
import { isPostable } from './answer.ts'

/** How an app wants to be answered. */
type Answering = Partial<Record<'state' | 'response_mode', string>>

/**
 * How a request is to be answered that is refused for its request object (OpenID Connect Core §6.1): as it says in the
 * object, where an app may put `state` and `response_mode` alone. Nothing of the object is verified, and it counts for
 * nothing else: both could stand in the address as well. What can't be read or used there is passed over.
 */
export function readAnswering(redirectUri: string, { request, ...outer }: Answering & { request?: string }): Answering {
  const { state, response_mode: mode } = request === undefined ? {} : payloadOf(request)
  const isUsable = mode === 'query' || (mode === 'form_post' && isPostable(redirectUri))
  return {
    ...outer,
    ...(typeof state === 'string' && { state }),
    ...(isUsable && { response_mode: mode }),
  }
}

/** The claims of a JWS in compact form (RFC 7515 §7.1), unverified; none of anything else. */
function payloadOf(request: string): Record<string, unknown> {
  const [, payload = '', ...rest] = request.split('.')
  if (rest.length !== 1) return {}
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch (error) {
    if (error instanceof Refusal) return {}
    throw error
  }
}
