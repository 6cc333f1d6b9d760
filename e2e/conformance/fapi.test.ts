import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { openGround, type Ground, type Manner } from './ground/ground.ts'
import { runPlan, type Module } from './plan.ts'
import { postForm, redemption, refreshment, type Consenter } from './ground/provider.ts'
import type { Parameters } from './ground/relying-party.ts'
import { judgeError, judgeErrorPage, judgeTokens } from './responses.ts'

type FapiGround = Ground & { consenter: Consenter }

let ground: FapiGround
before(async () => {
  const opened = await openGround('query')
  ground = { ...opened, consenter: await opened.provider.person() }
})
after(() => ground.close())

const profile = 'FAPI 2.0 Security Profile §5.3.2'

/** A request that differs in one thing, and ends as any other does. */
function succeeds(
  name: string,
  promise: string,
  clause: string,
  parameters: Required<Manner>['parameters'],
): Module<FapiGround> {
  return { name, promise, clause, judge: async ({ flow }) => void (await flow({ parameters })) }
}

/** A request that is answered with this error, at the redirect URI. */
function answers(name: string, error: string, clause: string, manner: Manner): Module<FapiGround> {
  return {
    name,
    promise: `the client is told ${error}`,
    clause,
    async judge({ answer }) {
      assert.equal((await answer(manner)).answer.get('error'), error)
    },
  }
}

/** A request that must not leave our pages. */
function stays(name: string, clause: string, redirectUri: (callback: string) => string | undefined) {
  return {
    name,
    promise: 'the person is told, and nobody else',
    clause,
    async judge({ provider, request, site }: FapiGround) {
      const parameters = request({ parameters: { redirect_uri: redirectUri(site.callback) } })
      await judgeErrorPage(await provider.ask(parameters))
    },
  }
}

/** A token request that gets nothing. */
type Refusing = {
  name: string
  promise: string
  clause: string
  status?: 401
  error: string
  send: (ground: FapiGround) => Promise<Response>
}

function refused({ name, promise, clause, status, error, send }: Refusing): Module<FapiGround> {
  return {
    name,
    promise,
    clause,
    judge: async (of) => assert.equal(await judgeError(await send(of), status ?? 400), error),
  }
}

const newVerifier = () => randomBytes(32).toString('base64url')
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Redeems a code of the first client that was asked for with a challenge. */
async function redeemChallenged({ provider, client, consenter }: FapiGround, verifier: string, fields: Parameters) {
  const challenge = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256' }
  return provider.token(client, redemption(client, await provider.code(consenter, client, challenge), fields))
}

const requestModules: Module<FapiGround>[] = [
  answers('user-rejects-authentication', 'access_denied', 'RFC 6749 §4.1.2.1', {
    parameters: { prompt: 'consent' },
    presses: ['deny'],
  }),
  succeeds('without-state-success', 'no state is sent, and none comes back', 'RFC 6749 §4.1.2', {
    state: undefined,
  }),
  {
    name: 'without-nonce-success',
    promise: 'no nonce is sent, and none comes back',
    clause: 'OpenID Connect Core §3.1.2.1',
    async judge({ flow }) {
      assert.ok(!('nonce' in (await flow({ parameters: { nonce: undefined } })).claims))
    },
  },
  succeeds('64-char-nonce-success', 'a nonce of 64 characters comes back whole', profile, {
    nonce: 'n'.repeat(64),
  }),
  succeeds('long-nonce', 'a nonce of 384 characters comes back whole', profile, { nonce: 'n'.repeat(384) }),
  succeeds('long-state', 'a state of 4,096 characters comes back whole', profile, { state: 's'.repeat(4096) }),
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

const tokenModules: Module<FapiGround>[] = [
  {
    name: 'client-id-in-token-endpoint',
    promise: 'the id of another client beside one’s own credentials is refused',
    clause: 'RFC 6749 §2.3, §5.2',
    async judge({ provider, client, other, consenter }, warn) {
      const fields = redemption(other, await provider.code(consenter, other), { client_id: other.clientId })
      const mixed = { ...fields, client_secret: client.secret }
      assert.equal(await judgeError(await provider.token(client, mixed, 'nothing'), 401), 'invalid_client')
      assert.equal(await judgeError(await provider.token(client, fields, 'basic'), 400), 'invalid_request')
      warn('where the header and the body name two clients, the error is invalid_request, not invalid_client')
      await judgeTokens(await provider.token(other, fields))
    },
  },
  refused({
    name: 'authorization-code-is-bound-to-client',
    promise: 'a code of another client is refused',
    clause: 'RFC 6749 §4.1.3',
    error: 'invalid_grant',
    async send({ provider, client, other, consenter }) {
      return provider.token(other, redemption(other, await provider.code(consenter, client)))
    },
  }),
  refused({
    name: 'reuse-authorization-code-after-one-second',
    promise: 'a code that is redeemed again later is refused',
    clause: profile,
    error: 'invalid_grant',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      await judgeTokens(await provider.token(client, redemption(client, code)))
      await provider.clock.step()
      return provider.token(client, redemption(client, code))
    },
  }),
  refused({
    name: 'authorization-code-lifetime',
    promise: 'a code that is older than a minute is refused at its first use',
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
    promise: 'a code is not redeemed for whoever knows the client’s id alone',
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
    promise: 'a refresh token is worth nothing without its client’s secret',
    clause: 'RFC 6749 §6',
    status: 401,
    error: 'invalid_client',
    async send({ provider, client, consenter }) {
      const code = await provider.code(consenter, client, { scope: 'openid offline_access' })
      const { refresh_token } = await judgeTokens(await provider.token(client, redemption(client, code)))
      return provider.token(client, { ...refreshment(refresh_token), client_id: client.clientId }, 'nothing')
    },
  }),
  refused({
    name: 'refresh-token-is-bound-to-client',
    promise: 'a refresh token of another client is refused',
    clause: 'RFC 6749 §6',
    error: 'invalid_grant',
    async send({ provider, client, other, consenter }) {
      const code = await provider.code(consenter, other, { scope: 'openid offline_access' })
      const { refresh_token } = await judgeTokens(await provider.token(other, redemption(other, code)))
      return provider.token(client, refreshment(refresh_token))
    },
  }),
  {
    name: 'access-token-type-header-case-insensitive',
    promise: 'the scheme of an access token is read in any case',
    clause: 'RFC 9110 §11.1',
    async judge({ provider, client, consenter }) {
      const code = await provider.code(consenter, client)
      const { access_token } = await judgeTokens(await provider.token(client, redemption(client, code)))
      for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
        assert.equal((await provider.userinfo(access_token, 'GET', scheme)).status, 200)
    },
  },
]

const challengeModules: Module<FapiGround>[] = [
  {
    name: 'pkce-required',
    promise: 'a request without a challenge is refused',
    clause: profile,
    async judge({ answer, provider, site }) {
      const open = await provider.register([site.callback], { public: true })
      assert.equal((await answer({ client: open })).answer.get('error'), 'invalid_request')
      assert.notEqual((await answer()).answer.get('code'), null)
      return { failsByDecision: 'PKCE is required of public clients; one that has a secret may do without' }
    },
  },
  answers('plain-pkce-rejected', 'invalid_request', 'RFC 7636 §4.4.1, RFC 9700 §2.1.1', {
    parameters: { code_challenge: newVerifier(), code_challenge_method: 'plain' },
  }),
  refused({
    name: 'pkce-verifier-missing',
    promise: 'a code that was asked for with a challenge is not redeemed without its verifier',
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

/** Pushes a request without a state and a nonce, and answers what the browser takes along: the reference alone. */
async function push({ provider, client, request }: FapiGround): Promise<Required<Manner>['parameters']> {
  const pushed = await pushing(provider, client, request({ parameters: { state: undefined, nonce: undefined } }))
  assert.equal(pushed.status, 201)
  const { request_uri, expires_in } = await pushed.json()
  assert.ok(Number.isInteger(expires_in) && expires_in > 0 && expires_in < 600)
  const left = ['response_type', 'redirect_uri', 'scope', 'state', 'nonce'].map((name) => [name, undefined] as const)
  return { ...Object.fromEntries(left), request_uri }
}

function pushing({ metadata }: FapiGround['provider'], { clientId, secret }: FapiGround['client'], fields: Parameters) {
  const credentials = { client_id: clientId, client_secret: secret }
  return postForm(metadata.pushed_authorization_request_endpoint, { ...fields, ...credentials })
}

/** A reference to a pushed request that is worth nothing. */
function worthless(name: string, promise: string, spoil: (of: FapiGround) => Promise<Manner>): Module<FapiGround> {
  return {
    name,
    promise,
    clause: 'RFC 9126 §2.2, §4, §7.3',
    judge: async (of) => judgeErrorPage(await of.provider.ask(of.request(await spoil(of)))),
  }
}

const pushModules: Module<FapiGround>[] = [
  {
    name: 'par-happy-flow',
    promise: 'a pushed request is what the person is asked, however often its page was looked at before',
    clause: 'RFC 9126 §4, §7.3',
    async judge(of) {
      const parameters = await push(of)
      for (let views = 0; views < 2; views += 1)
        assert.equal((await of.provider.ask(of.request({ parameters }))).status, 200)
      await of.flow({ parameters })
    },
  },
  worthless('par-attempt-reuse-request-uri', 'a reference that gave a code gives no other', async (of) => {
    const parameters = await push(of)
    await of.flow({ parameters })
    return { parameters }
  }),
  worthless('par-attempt-to-use-expired-request-uri', 'a reference that is too old is refused', async (of) => {
    const parameters = await push(of)
    await of.provider.clock.step()
    await of.provider.clock.step()
    return { parameters }
  }),
  worthless('par-request-uri-of-another-client', 'a reference of another client is refused', async (of) => {
    return { client: of.other, parameters: await push(of) }
  }),
  {
    name: 'par-with-request-uri-in-body-fails',
    promise: 'a pushed request refers to no other',
    clause: 'RFC 9126 §2.1',
    async judge({ provider, client, request }) {
      const fields = request({ parameters: { request_uri: 'urn:ietf:params:oauth:request_uri:x' } })
      assert.equal(await judgeError(await pushing(provider, client, fields), 400), 'invalid_request')
    },
  },
  {
    name: 'par-wrong-method-fails',
    promise: 'a request is pushed by POST alone',
    clause: 'RFC 9126 §2.3',
    async judge({ provider, request }) {
      const url = `${provider.metadata.pushed_authorization_request_endpoint}?${new URLSearchParams(request())}`
      assert.equal((await fetch(url)).status, 405)
    },
  },
]

runPlan('FAPI 2.0', [...requestModules, ...pushModules, ...tokenModules, ...challengeModules], () => ground)
