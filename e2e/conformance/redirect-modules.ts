import assert from 'node:assert/strict'
import type { Ground, Manner } from './ground/ground.ts'
import type { Module } from './plan.ts'
import { judgeErrorPage } from './responses.ts'

const exactly = 'OpenID Connect Core §3.1.2.1, RFC 9700 §2.1'

const pageOfOurs = 'the page that refuses the redirect URI'

/** A request that must end on a page of the provider: to send it back would be to send it to anybody. */
export function stays(
  name: string,
  promise: string,
  manner: (ground: Ground) => Manner | Promise<Manner>,
): Module<Ground> {
  return {
    name,
    promise,
    clause: exactly,
    async judge(ground) {
      await judgeErrorPage(await ground.provider.ask(ground.request(await manner(ground))))
      return { review: pageOfOurs }
    },
  }
}

/** An unsigned JWT (RFC 7519 §6.1). */
function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

/** Where an answer goes, and where it must not. */
export const redirectModules: Module<Ground>[] = [
  stays('oidcc-ensure-registered-redirect-uri', 'a redirect URI that is not registered is refused', ({ site }) => {
    return { parameters: { redirect_uri: `${site.callback}/other` } }
  }),
  stays(
    'oidcc-ensure-request-object-with-redirect-uri',
    'a redirect URI inside a request object does not replace one that is not registered',
    ({ request, site }) => {
      return { parameters: { redirect_uri: `${site.callback}/other`, request: unsigned(request()) } }
    },
  ),
  {
    name: 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    promise: 'a request object is refused in the way that it asks for itself',
    clause: 'OpenID Connect Core §3.1.2.6, §6.1',
    async judge({ answer, request }) {
      // As the suite does: outside of the object is what RFC 6749 and OpenID Connect require there, and nothing else.
      const inside = request()
      const outside = { state: undefined, nonce: undefined, response_mode: undefined }
      const { answer: answered } = await answer({ parameters: { ...outside, request: unsigned(inside) }, inside })
      assert.equal(answered.get('error'), 'request_not_supported')
      return { skipped: 'request objects are not supported: request_not_supported' }
    },
  },
]
