import type { PlaygroundView } from '@countersign/protocol/pages'
import { challengeOf, scope } from './authorization-request.ts'
import type { Sent } from './callback.ts'

/** Whether this browser can ask somebody who they are in a dialog of its own (FedCM). */
export const hasDialog = 'IdentityCredential' in globalThis

/**
 * Has the browser ask (FedCM §2.2); answers the assertion that it got. Undefined where it got none: a browser keeps the
 * reason to itself, or has told it to the person.
 */
export async function askInDialog({ clientId, site }: PlaygroundView, sent: Sent): Promise<string | undefined> {
  const params = { scope, nonce: sent.nonce, codeChallenge: await challengeOf(sent.verifier) }
  const provider = { configURL: `${site.baseUrl}/api/oauth/fedcm/config`, clientId, params, fields: [] }
  const options = { identity: { providers: [provider], mode: 'active' }, mediation: 'optional' as const }
  try {
    const token: unknown = Reflect.get(Object(await navigator.credentials.get(options)), 'token')
    return typeof token === 'string' ? token : undefined
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
