import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { openConformanceEnv, type ConformanceEnv, type RequestChoices } from './environment/environment.ts'
import { runPlan, type Module } from './plan.ts'
import { postForm, redemption, refreshment, type Consenter } from './environment/provider.ts'
import type { Parameters } from './environment/relying-party.ts'
import { checkErrorResponse, checkErrorPage, checkTokenResponse } from './responses.ts'

type FapiEnv = ConformanceEnv & { consenter: Consenter }

let env: FapiEnv
before(async () => {
  const opened = await openConformanceEnv('query')
  env = { ...opened, consenter: await opened.provider.person() }
})
after(() => env.close())

const profile = 'FAPI 2.0 Security Profile §5.3.2'

/** A request with one difference, and the usual result. */
function succeeds(
  name: string,
  promise: string,
  clause: string,
  parameters: Required<RequestChoices>['parameters'],
): Module<FapiEnv> {
  return { name, promise, clause, check: async ({ flow }) => void (await flow({ parameters })) }
}

/** A request that gets this error, at the redirect URI. */
function answers(name: string, error: string, clause: string, manner: RequestChoices): Module<FapiEnv> {
  return {
    name,
    promise: `the client gets ${error}`,
    clause,
    async check({ answer }) {
      assert.equal((await answer(manner)).answer.get('error'), error)
    },
  }
}

/** A request that must end on a page of the provider. */
function stays(name: string, clause: string, redirectUri: (callback: string) => string | undefined) {
  return {
    name,
    promise: 'only the user sees the error',
    clause,
    async check({ provider, request, site }: FapiEnv) {
      const parameters = request({ parameters: { redirect_uri: redirectUri(site.callback) } })
      await checkErrorPage(await provider.requestAuthorization(parameters))
    },
  }
}

/** A token request that gets no tokens. */
type Refusing = {
  name: string
  promise: string
  clause: string
  status?: 401
  error: string
  send: (env: FapiEnv) => Promise<Response>
}

function refused({ name, promise, clause, status, error, send }: Refusing): Module<FapiEnv> {
  return {
    name,
    promise,
    clause,
    check: async (of) => assert.equal(await checkErrorResponse(await send(of), status ?? 400), error),
  }
}

const newVerifier = () => randomBytes(32).toString('base64url')
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Redeems a code of the first client whose request had a challenge. */
async function redeemChallenged({ provider, client, consenter }: FapiEnv, verifier: string, fields: Parameters) {
  const challenge = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256' }
  return provider.token(client, redemption(client, await provider.code(consenter, client, challenge), fields))
}

const requestModules: Module<FapiEnv>[] = [
  answers('user-rejects-authentication', 'access_denied', 'RFC 6749 §4.1.2.1', {
    parameters: { prompt: 'consent' },
    presses: ['deny'],
  }),
  succeeds('without-state-success', 'no state is sent, and none is returned', 'RFC 6749 §4.1.2', {
    state: undefined,
  }),
  {
    name: 'without-nonce-success',
    promise: 'no nonce is sent, and none is returned',
    clause: 'OpenID Connect Core §3.1.2.1',
    async check({ flow }) {
      assert.ok(!('nonce' in (await flow({ parameters: { nonce: undefined } })).claims))
    },
  },
  succeeds('64-char-nonce-success', 'a nonce of 64 characters is returned unchanged', profile, {
    nonce: 'n'.repeat(64),
  }),
  succeeds('long-nonce', 'a nonce of 384 characters is returned unchanged', profile, { nonce: 'n'.repeat(384) }),
  succeeds('long-state', 'a state of 4,096 characters is returned unchanged', profile, { state: 's'.repeat(4096) }),
  succeeds('other-scope-order-succeeds', 'the order of scopes does not matter', 'RFC 6749 §3.3', {
    scope: 'profile openid',
  }),
  answers('response-type-code-id-token-fails', 'unsupported_response_type', profile, {
    parameters: { response_type: 'code id_token' },
  }),
  answers('response-type-token-fails', 'unsupported_response_type', profile, {
    parameters: { response_type: 'token' },
  }),
  stays('registered-redirect-uri', 'RFC 9700 §2.1', (callback) => `${callback}/other`),
  stays('redirect-uri-in-authorization-request', profile, () => undefined),
]

const tokenModules: Module<FapiEnv>[] = [
  {
    name: 'client-id-in-token-endpoint',
    promise: 'the id of another client next to one’s own credentials is rejected',
    clause: 'RFC 6749 §2.3, §5.2',
    async check({ provider, client, other, consenter }, warn) {
      const fields = redemption(other, await provider.code(consenter, other), { client_id: other.clientId })
      const mixed = { ...fields, client_secret: client.secret }
      assert.equal(await checkErrorResponse(await provider.token(client, mixed, 'nothing'), 401), 'invalid_client')
      assert.equal(await checkErrorResponse(await provider.token(client, fields, 'basic'), 400), 'invalid_request')
      warn('with different clients in the header and the body, the error is invalid_request, not invalid_client')
      await checkTokenResponse(await provider.token(other, fields))
    },
  },
  refused({
    name: 'authorization-code-is-bound-to-client',
    promise: 'a code of another client is rejected',
    clause: 'RFC 6749 §4.1.3',
    error: 'invalid_grant',
    async send({ provider, client, other, consenter }) {
      return provider.token(other, redemption(other, await provider.code(consenter, client)))
    },
  }),
  refused({
    name: 'reuse-authorization-code-after-one-second',
    promise: 'a code that is redeemed again later is rejected',
    clause: profile,
    error: 'invalid_grant',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      await checkTokenResponse(await provider.token(client, redemption(client, code)))
      await provider.clock.step()
      return provider.token(client, redemption(client, code))
    },
  }),
  refused({
    name: 'authorization-code-lifetime',
    promise: 'a code older than a minute is rejected at its first use',
    clause: profile,
    error: 'invalid_grant',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      await provider.clock.step()
      await provider.clock.step()
      return provider.token(client, redemption(client, code))
    },
  }),
  refused({
    name: 'client-authentication-required',
    promise: 'a code is not redeemed with only the client’s id',
    clause: 'RFC 6749 §3.2.1',
    status: 401,
    error: 'invalid_client',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      return provider.token(client, redemption(client, code, { client_id: client.clientId }), 'nothing')
    },
  }),
  refused({
    name: 'refresh-without-client-authentication-fails',
    promise: 'a refresh token needs its client’s secret',
    clause: 'RFC 6749 §6',
    status: 401,
    error: 'invalid_client',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client, { scope: 'openid offline_access' })
      const { refresh_token } = await checkTokenResponse(await provider.token(client, redemption(client, code)))
      return provider.token(client, { ...refreshment(refresh_token), client_id: client.clientId }, 'nothing')
    },
  }),
  refused({
    name: 'refresh-token-is-bound-to-client',
    promise: 'a refresh token of another client is rejected',
    clause: 'RFC 6749 §6',
    error: 'invalid_grant',
    async send({ provider, client, other, consenter }) {
      const code = await provider.code(consenter, other, { scope: 'openid offline_access' })
      const { refresh_token } = await checkTokenResponse(await provider.token(other, redemption(other, code)))
      return provider.token(client, refreshment(refresh_token))
    },
  }),
  {
    name: 'access-token-type-header-case-insensitive',
    promise: 'the scheme of an access token is case-insensitive',
    clause: 'RFC 9110 §11.1',
    async check({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      const { access_token } = await checkTokenResponse(await provider.token(client, redemption(client, code)))
      for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
        assert.equal((await provider.userinfo(access_token, 'GET', scheme)).status, 200)
    },
  },
]

const challengeModules: Module<FapiEnv>[] = [
  {
    name: 'pkce-required',
    promise: 'a request without a challenge is rejected',
    clause: profile,
    async check({ answer, provider, site }) {
      const open = await provider.register([site.callback], { public: true })
      assert.equal((await answer({ client: open })).answer.get('error'), 'invalid_request')
      assert.notEqual((await answer()).answer.get('code'), null)
      return { failsByDecision: 'PKCE is required of public clients; it is optional with a secret' }
    },
  },
  answers('plain-pkce-rejected', 'invalid_request', 'RFC 7636 §4.4.1, RFC 9700 §2.1.1', {
    parameters: { code_challenge: newVerifier(), code_challenge_method: 'plain' },
  }),
  refused({
    name: 'pkce-verifier-missing',
    promise: 'a code requested with a challenge is not redeemed without its verifier',
    clause: 'RFC 7636 §4.6',
    error: 'invalid_grant',
    send: (of) => redeemChallenged(of, newVerifier(), {}),
  }),
  refused({
    name: 'incorrect-pkce-verifier-rejected',
    promise: 'a code is not redeemed with another verifier',
    clause: 'RFC 7636 §4.6',
    error: 'invalid_grant',
    send: (of) => redeemChallenged(of, newVerifier(), { code_verifier: newVerifier() }),
  }),
]

/** Pushes a request without a state and a nonce, and returns the browser's parameters: only the reference. */
async function push({ provider, client, request }: FapiEnv): Promise<Required<RequestChoices>['parameters']> {
  const pushed = await pushing(provider, client, request({ parameters: { state: undefined, nonce: undefined } }))
  assert.equal(pushed.status, 201)
  const { request_uri, expires_in } = await pushed.json()
  assert.ok(Number.isInteger(expires_in) && expires_in > 0 && expires_in < 600)
  const left = ['response_type', 'redirect_uri', 'scope', 'state', 'nonce'].map((name) => [name, undefined] as const)
  return { ...Object.fromEntries(left), request_uri }
}

function pushing({ metadata }: FapiEnv['provider'], { clientId, secret }: FapiEnv['client'], fields: Parameters) {
  const credentials = { client_id: clientId, client_secret: secret }
  return postForm(metadata.pushed_authorization_request_endpoint, { ...fields, ...credentials })
}

/** An invalid reference to a pushed request. */
function worthless(name: string, promise: string, spoil: (of: FapiEnv) => Promise<RequestChoices>): Module<FapiEnv> {
  return {
    name,
    promise,
    clause: 'RFC 9126 §2.2, §4, §7.3',
    check: async (of) => checkErrorPage(await of.provider.requestAuthorization(of.request(await spoil(of)))),
  }
}

const pushModules: Module<FapiEnv>[] = [
  {
    name: 'par-happy-flow',
    promise: 'a pushed request determines the page, however often the page was viewed before',
    clause: 'RFC 9126 §4, §7.3',
    async check(of) {
      const parameters = await push(of)
      for (let views = 0; views < 2; views += 1)
        assert.equal((await of.provider.requestAuthorization(of.request({ parameters }))).status, 200)
      await of.flow({ parameters })
    },
  },
  worthless('par-attempt-reuse-request-uri', 'a reference that has yielded a code yields no second one', async (of) => {
    const parameters = await push(of)
    await of.flow({ parameters })
    return { parameters }
  }),
  worthless('par-attempt-to-use-expired-request-uri', 'an expired reference is rejected', async (of) => {
    const parameters = await push(of)
    await of.provider.clock.step()
    await of.provider.clock.step()
    return { parameters }
  }),
  worthless('par-request-uri-of-another-client', 'a reference of another client is rejected', async (of) => {
    return { client: of.other, parameters: await push(of) }
  }),
  {
    name: 'par-with-request-uri-in-body-fails',
    promise: 'a pushed request cannot refer to another',
    clause: 'RFC 9126 §2.1',
    async check({ provider, client, request }) {
      const fields = request({ parameters: { request_uri: 'urn:ietf:params:oauth:request_uri:x' } })
      assert.equal(await checkErrorResponse(await pushing(provider, client, fields), 400), 'invalid_request')
    },
  },
  {
    name: 'par-wrong-method-fails',
    promise: 'a request can be pushed by POST only',
    clause: 'RFC 9126 §2.3',
    async check({ provider, request }) {
      const url = `${provider.metadata.pushed_authorization_request_endpoint}?${new URLSearchParams(request())}`
      assert.equal((await fetch(url)).status, 405)
    },
  },
]

runPlan('FAPI 2.0', [...requestModules, ...pushModules, ...tokenModules, ...challengeModules], () => env)
