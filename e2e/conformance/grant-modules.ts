import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { ConformanceEnv } from './environment/environment.ts'
import type { Module } from './plan.ts'
import { redemption, refreshment } from './environment/provider.ts'
import { checkErrorResponse, checkIdToken, checkTokenResponse } from './responses.ts'

const once = 'RFC 6749 §4.1.2'

/** A request to the token endpoint after the authorization response. */
export const grantModules: Module<ConformanceEnv>[] = [
  {
    name: 'oidcc-codereuse',
    promise: 'a code that is redeemed again at once is rejected',
    clause: once,
    async check({ flow, provider, client }) {
      const { code } = await flow()
      assert.equal(
        await checkErrorResponse(await provider.token(client, redemption(client, code)), 400),
        'invalid_grant',
      )
    },
  },
  {
    name: 'oidcc-codereuse-30seconds',
    promise: 'a code that is redeemed again later is rejected, and its tokens are revoked',
    clause: once,
    async check({ flow, provider, client }) {
      const { code, tokens } = await flow()
      await provider.clock.step()
      assert.equal((await provider.userinfo(tokens.access_token)).status, 200)
      assert.equal(
        await checkErrorResponse(await provider.token(client, redemption(client, code)), 400),
        'invalid_grant',
      )
      assert.equal((await provider.userinfo(tokens.access_token)).status, 401)
    },
  },
  {
    name: 'oidcc-ensure-request-with-valid-pkce-succeeds',
    promise: 'a challenge is accepted, and its verifier redeems the code',
    clause: 'RFC 7636 §4.3, §4.5',
    async check({ answer, provider, client }) {
      const verifier = randomBytes(32).toString('base64url')
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const parameters = { code_challenge: challenge, code_challenge_method: 'S256' }
      const code = (await answer({ parameters })).answer.get('code') ?? ''
      await checkTokenResponse(await provider.token(client, redemption(client, code, { code_verifier: verifier })))
    },
  },
  {
    name: 'oidcc-refresh-token',
    promise: 'a refresh returns new tokens of the same sign-in, to its own client only',
    clause: 'RFC 6749 §6, OpenID Connect Core §12.2',
    async check({ flow, provider, client, other }) {
      const { tokens, claims } = await flow({ parameters: { scope: 'openid offline_access' } })
      const stolen = await provider.token(other, refreshment(tokens.refresh_token))
      assert.equal(await checkErrorResponse(stolen, 400), 'invalid_grant')
      await provider.clock.step()
      const again = await checkTokenResponse(await provider.token(client, refreshment(tokens.refresh_token)))
      assert.notEqual(again.access_token, tokens.access_token)
      const renewed = await checkIdToken(provider, again, { client, nonce: undefined })
      const kept = ['iss', 'sub', 'aud', 'azp', 'auth_time'] as const
      for (const claim of kept) assert.deepEqual(renewed[claim], claims[claim])
      assert.ok(renewed.iat > claims.iat)
    },
  },
]
