import assert from 'node:assert/strict'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import type { LogoutEnv } from './environment/logout-environment.ts'
import type { Module } from './plan.ts'

const spec = 'OpenID Connect Back-Channel Logout'

export const backChannelModules: Module<LogoutEnv>[] = [
  {
    name: 'oidcc-backchannel-logout-discovery-endpoint-verification',
    promise: 'discovery announces logout tokens with sid',
    clause: `${spec} §2.1`,
    async check({ provider }) {
      const { backchannel_logout_supported: isSupported, backchannel_logout_session_supported: hasSid } =
        provider.metadata
      assert.deepEqual([isSupported, hasSid], [true, true])
      assert.ok(provider.metadata.end_session_endpoint.startsWith(`${provider.issuer}/`))
    },
  },
  {
    name: 'oidcc-backchannel-rp-initiated-logout',
    promise: 'a user signed out by an app is signed out at its server too, by a logout token of that session',
    clause: `${spec} §2.4, §2.5, §2.6`,
    async check(env) {
      const { provider, client, backChannel } = env
      const usual = await env.request()
      const { sub, sid } = decodeJwt(usual['id_token_hint'] ?? '')
      const before = backChannel.received.length
      await env.signOutToApp(usual)
      await env.checkSignedOut()
      // Tokens of earlier sessions may still arrive in between.
      let token: string | undefined
      for (let count = before + 1; token === undefined; count += 1) {
        const received = await backChannel.has(count)
        const tokens = received.slice(before).map(({ headers, body }) => {
          assert.match(headers['content-type'] ?? '', /^application\/x-www-form-urlencoded\b/)
          const form = new URLSearchParams(body)
          assert.deepEqual([...form.keys()], ['logout_token'])
          return form.get('logout_token') ?? ''
        })
        token = tokens.find((each) => decodeJwt(each)['sid'] === sid)
      }
      const keys = createRemoteJWKSet(new URL(provider.metadata.jwks_uri))
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer: provider.issuer,
        audience: client.clientId,
        typ: 'logout+jwt',
        algorithms: ['RS256'],
        requiredClaims: ['iat', 'exp', 'jti', 'events'],
        maxTokenAge: '2 minutes',
      })
      assert.equal(protectedHeader.alg, 'RS256')
      assert.equal(payload.sub, sub)
      assert.equal('nonce' in payload, false)
      assert.deepEqual(payload['events'], { 'http://schemas.openid.net/event/backchannel-logout': {} })
    },
  },
]
