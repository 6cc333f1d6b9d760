import assert from 'node:assert/strict'
import { limits } from '@countersign/protocol/formats/limits'
import { decodeProtectedHeader } from 'jose'
import { clockStepSeconds } from './environment/adjustable-clock.ts'
import type { ConformanceEnv } from './environment/environment.ts'
import type { Module } from './plan.ts'
import { stays } from './redirect-modules.ts'
import { checkErrorResponse } from './responses.ts'

const core = 'OpenID Connect Core'

/** Modules that are in no plan which the suite can run for clients of the admin API. They are run too. */
export const furtherModules: Module<ConformanceEnv>[] = [
  {
    name: 'oidcc-idtoken-signature',
    promise: 'a client without a registered algorithm gets RS256, with the id of a published key',
    clause: `${core} §10.1, §15.1`,
    async check({ flow, provider }) {
      const { alg, kid } = decodeProtectedHeader((await flow()).tokens.id_token)
      assert.equal(alg, 'RS256')
      assert.ok((await provider.readKeys()).keys.some((key) => key.kid === kid))
    },
  },
  {
    name: 'oidcc-idtoken-unsigned',
    promise: 'no client is registered for unsigned ID tokens',
    clause: `${core} §3.1.3.7`,
    async check({ provider, site }) {
      const unsigned = await provider.registration([site.callback], { idTokenSignedResponseAlg: 'none' })
      assert.equal(unsigned.status, 400)
      return { skipped: 'id_token_signing_alg_values_supported does not list none, and registering for it is rejected' }
    },
  },
  stays('oidcc-redirect-uri-query-added', 'an unregistered query is rejected', ({ site }) => {
    return { parameters: { redirect_uri: `${site.callback}?foo=bar` } }
  }),
  stays('oidcc-redirect-uri-query-mismatch', 'another query than the registered one is rejected', async (env) => {
    const client = await env.provider.register([`${env.site.callback}?foo=bar`])
    return { client, parameters: { redirect_uri: `${env.site.callback}?foo=baz` } }
  }),
  {
    name: 'oidcc-redirect-uri-query-OK',
    promise: 'a registered query is preserved in the response',
    clause: 'RFC 6749 §3.1.2',
    async check({ provider, site, flow }) {
      const client = await provider.register([`${site.callback}?foo=bar`])
      const { landing } = await flow({ client, presses: ['approve'] })
      assert.deepEqual(landing.query.getAll('foo'), ['bar'])
    },
  },
  {
    name: 'oidcc-redirect-uri-regfrag',
    promise: 'a redirect URI with a fragment is not registered',
    clause: 'RFC 6749 §3.1.2',
    async check({ provider, site }) {
      assert.equal(
        await checkErrorResponse(await provider.registration([`${site.callback}#foo`]), 400),
        'invalid_redirect_uri',
      )
    },
  },
  stays(
    'oidcc-ensure-redirect-uri-in-authorization-request',
    'a request without a redirect URI is rejected if the client has two',
    async ({ provider, site }) => {
      const client = await provider.register([site.callback, `${site.callback}/second`])
      return { client, parameters: { redirect_uri: undefined } }
    },
  ),
  {
    name: 'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    promise: 'a request object by reference is rejected with its own error',
    clause: 'OpenID Connect Core §3.1.2.6, §6.2',
    async check({ answer, site }) {
      const { answer: answered } = await answer({ parameters: { request_uri: `${site.origin}/request.jwt` } })
      assert.equal(answered.get('error'), 'request_uri_not_supported')
      return { skipped: 'request objects are not supported: request_uri_not_supported' }
    },
  },
  {
    name: 'oidcc-server-rotate-keys',
    promise: 'a new key is published and signs, and the old one stays published',
    clause: 'OpenID Connect Core §10.1.1',
    async check({ flow, provider }) {
      const signs = async () => decodeProtectedHeader((await flow()).tokens.id_token).kid ?? ''
      const published = async () => (await provider.readKeys()).keys.map(({ kid }) => kid)
      const [old, known] = [await signs(), await published()]
      assert.equal((await provider.rotateKeys()).status, 201)
      assert.ok(
        (await published()).some((kid) => !known.includes(kid)),
        'the new key is published before it signs',
      )
      for (let steps = 0; steps * clockStepSeconds <= limits.signingKeyEmergencyLeadSeconds; steps += 1)
        await provider.clock.step()
      assert.ok(!known.includes(await signs()))
      assert.ok((await published()).includes(old))
    },
  },
]
