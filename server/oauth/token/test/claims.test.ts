import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { type IdentityId, type SessionId, type UserId, asId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { identityClaims, supportedClaims } from '#oauth/token/claims.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const granted = {
  ...{ identityId: asId<IdentityId>('identity'), userId: asId<UserId>('user'), sessionId: asId<SessionId>('session') },
  ...{ scope: '', authTime: 0, nonce: null },
  ...{ handle: 'ada', displayName: 'Ada', avatarUrl: null, email: 'ada@example.org', emailVerified: true },
  ...{ updatedAt: 1, organizationId: null, ssoConnectionId: null, byProviderAlone: false },
}

test('each scope gives its claims, in ID tokens and UserInfo alike', () => {
  const profile = { name: 'Ada', preferred_username: 'ada', updated_at: 1 }
  const email = { email: 'ada@example.org', email_verified: true }
  assert.deepEqual(identityClaims(granted, new ScopeSet(['openid', 'offline_access'])), {})
  assert.deepEqual(identityClaims(granted, new ScopeSet(['profile'])), profile)
  assert.deepEqual(identityClaims({ ...granted, avatarUrl: '/ada' }, new ScopeSet(['profile'])), {
    ...profile,
    picture: '/ada',
  })
  assert.deepEqual(identityClaims(granted, new ScopeSet(['email', 'user_id'])), { ...email, user_id: 'user' })
  assert.deepEqual(identityClaims({ ...granted, emailVerified: false }, new ScopeSet(['email'])), {})
  assert.deepEqual(identityClaims({ ...granted, email: null }, new ScopeSet(['email'])), {})
})

test('the provider metadata lists every claim of an ID token and of the UserInfo response', async () => {
  const metadata = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.deepEqual(metadata.claims_supported, supportedClaims)
  for (const name of ['email', 'email_verified', 'organization']) assert.ok(supportedClaims.includes(name), name)
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'email', 'user_id'], idTokenClaims: true })
  const requested = { scope: 'openid profile user_id', nonce: 'nonce' }
  const { id_token: idToken = '', access_token: token } = await app.tokens(await world.person(), requested)
  const headers = { authorization: `Bearer ${token}` }
  const userInfo = (await world.api.inject({ url: '/api/oauth/userinfo', headers })).json()
  for (const name of Object.keys({ ...decodeJwt(idToken), ...userInfo }))
    assert.ok(metadata.claims_supported.includes(name), name)
})
