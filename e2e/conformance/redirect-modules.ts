import assert from 'node:assert/strict'
import type { ConformanceEnv, RequestChoices } from './environment/environment.ts'
import type { Module } from './plan.ts'
import { checkErrorPage } from './responses.ts'

const exactly = 'OpenID Connect Core §3.1.2.1, RFC 9700 §2.1'

const pageOfOurs = 'the page that rejects the redirect URI'

/** A request that must end on a page of the provider: a redirect could send the response to anyone. */
export function stays(
  name: string,
  promise: string,
  manner: (env: ConformanceEnv) => RequestChoices | Promise<RequestChoices>,
): Module<ConformanceEnv> {
  return {
    name,
    promise,
    clause: exactly,
    async check(env) {
      await checkErrorPage(await env.provider.requestAuthorization(env.request(await manner(env))))
      return { review: pageOfOurs }
    },
  }
}

/** Creates an unsigned JWT (RFC 7519 §6.1). */
function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

/** Modules about where a response is sent, and where it must not be. */
export const redirectModules: Module<ConformanceEnv>[] = [
  stays('oidcc-ensure-registered-redirect-uri', 'an unregistered redirect URI is rejected', ({ site }) => {
    return { parameters: { redirect_uri: `${site.callback}/other` } }
  }),
  stays(
    'oidcc-ensure-request-object-with-redirect-uri',
    'a redirect URI in a request object does not replace an unregistered one',
    ({ request, site }) => {
      return { parameters: { redirect_uri: `${site.callback}/other`, request: unsigned(request()) } }
    },
  ),
  {
    name: 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    promise: 'a request object is rejected in the response mode that it requests',
    clause: 'OpenID Connect Core §3.1.2.6, §6.1',
    async check({ answer, request }) {
      // As in the suite: only the parameters that RFC 6749 and OpenID Connect require are outside of the object.
      const inside = request()
      const outside = { state: undefined, nonce: undefined, response_mode: undefined }
      const { answer: answered } = await answer({ parameters: { ...outside, request: unsigned(inside) }, inside })
      assert.equal(answered.get('error'), 'request_not_supported')
      return { skipped: 'request objects are not supported: request_not_supported' }
    },
  },
]
