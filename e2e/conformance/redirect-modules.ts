import assert from 'node:assert/strict'
import type { Ground, Manner } from './ground.ts'
import type { Module } from './plan.ts'
import { judgeError, judgeErrorPage } from './responses.ts'

const exactly = 'OpenID Connect Core §3.1.2.1, RFC 9700 §2.1'

/** A request that must end on a page of ours: to send it back would be to send it to anybody. */
function stays(name: string, promise: string, manner: (ground: Ground) => Manner | Promise<Manner>): Module<Ground> {
  return {
    name,
    promise,
    clause: exactly,
    async judge(ground) {
      await judgeErrorPage(await ground.provider.ask(ground.request(await manner(ground))))
    },
  }
}

/** An unsigned JWT (RFC 7519 §6.1). */
function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

/** A way of asking that discovery says is not offered: to be refused in words, and never to be passed over. */
function notOffered(
  name: string,
  error: string,
  parameters: (ground: Ground) => Record<string, string>,
): Module<Ground> {
  return {
    name,
    promise: `what is not offered answers ${error}`,
    clause: 'OpenID Connect Core §3.1.2.6, §6',
    async judge(ground) {
      const { answer } = await ground.answer({ parameters: parameters(ground) })
      assert.equal(answer.get('error'), error)
    },
  }
}

/** Where an answer goes, and where it must not. */
export const redirectModules: Module<Ground>[] = [
  stays('oidcc-ensure-registered-redirect-uri', 'a redirect URI that is not registered is refused here', ({ site }) => {
    return { parameters: { redirect_uri: `${site.callback}/other` } }
  }),
  stays('oidcc-redirect-uri-query-added', 'a query that is not registered is refused here', ({ site }) => {
    return { parameters: { redirect_uri: `${site.callback}?foo=bar` } }
  }),
  stays(
    'oidcc-redirect-uri-query-mismatch',
    'another query than the registered one is refused here',
    async (ground) => {
      const client = await ground.provider.register([`${ground.site.callback}?foo=bar`])
      return { client, parameters: { redirect_uri: `${ground.site.callback}?foo=baz` } }
    },
  ),
  {
    name: 'oidcc-redirect-uri-query-OK',
    promise: 'a registered query is kept beside the answer',
    clause: 'RFC 6749 §3.1.2',
    async judge({ provider, site, flow }) {
      const client = await provider.register([`${site.callback}?foo=bar`])
      const { landing } = await flow({ client, presses: ['approve'] })
      assert.deepEqual(landing.query.getAll('foo'), ['bar'])
    },
  },
  {
    name: 'oidcc-redirect-uri-regfrag',
    promise: 'a redirect URI with a fragment is not registered',
    clause: 'RFC 6749 §3.1.2',
    async judge({ provider, site }) {
      assert.equal(await judgeError(await provider.registration([`${site.callback}#foo`]), 400), 'invalid_redirect_uri')
    },
  },
  stays(
    'oidcc-ensure-redirect-uri-in-authorization-request',
    'a client with two redirect URIs that names none is refused here',
    async ({ provider, site }) => {
      const client = await provider.register([site.callback, `${site.callback}/second`])
      return { client, parameters: { redirect_uri: undefined } }
    },
  ),
  notOffered(
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    'request_not_supported',
    ({ request }) => ({ request: unsigned(request()) }),
  ),
  notOffered(
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    'request_uri_not_supported',
    ({ site }) => ({ request_uri: `${site.origin}/request.jwt` }),
  ),
  notOffered('oidcc-ensure-request-object-with-redirect-uri', 'request_not_supported', ({ request, site }) => {
    return { request: unsigned({ ...request(), redirect_uri: `${site.callback}/other` }) }
  }),
]
