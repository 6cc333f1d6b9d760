import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { putClaims, putRoles } from '#testing/roles.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/claims.md'), 'utf8')

/** Returns the word of the page that a pattern captures. */
function written(pattern: RegExp): string {
  const [, word] = pattern.exec(page) ?? []
  assert.ok(word, String(pattern))
  return word
}

test('the claims that the lines for Grafana and oauth2-proxy read are as they expect', async () => {
  const [role, groups] = [written(/^role_attribute_path = (\w+)$/m), written(/--oidc-groups-claim=(\w+)/)]
  assert.equal(written(/apps claims set app_… (\w+)/), role)
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'email', 'roles'] })
  const mapping = { source: 'roles', scope: 'roles', as: 'string', first: ['admin', 'editor'], default: 'Viewer' }
  await putClaims(world, app, [{ claim: role, ...mapping, map: { admin: 'Admin', editor: 'Editor' } }])
  const [admin, other] = [await world.person(), await world.person()]
  const key = written(/--allowed-group=(\w+)/)
  const roleAssignments = [{ role: key, identities: [admin.identityId] }]
  await putRoles(world, app, { roles: [{ key }, { key: 'editor' }], roleAssignments })
  for (const [scopes, person, expected, keys] of [
    [written(/^scopes = ([\w ]+)$/m), admin, 'Admin', [key]],
    [written(/--scope='(openid email roles)'/), other, 'Viewer', []],
  ] as const) {
    const tokens = await app.tokens(person, { scope: scopes.replace('email ', '') })
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const userinfo = (await world.api.inject({ url: '/api/oauth/userinfo', headers })).json<Record<string, unknown>>()
    for (const claims of [decodeJwt<Record<string, unknown>>(tokens.id_token ?? ''), userinfo])
      assert.deepEqual([claims[role], claims[groups]], [expected, keys])
  }
})
