import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import {
  operatorRoles,
  type OperatorRole,
  type Permission,
  permissions,
  rolesOfPermission,
  tokenPermissions,
} from '@countersign/protocol/formats/registries/permissions'
import { endpoints } from '#platform/process/openapi.ts'
import { endingQueryOf } from '#testing/ending-answers.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { asPage, createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

/** Who may call each endpoint, and `fresh` if operators need a passkey used within five minutes. */
const rows: Record<string, [Permission, string, 'fresh'?]> = {
  'POST /api/admin/apps': ['apps.manage', 'owner apps'],
  'GET /api/admin/apps': ['apps.read', 'owner apps auditor'],
  'GET /api/admin/apps/:clientId': ['apps.read', 'owner apps auditor'],
  'PATCH /api/admin/apps/:clientId': ['apps.manage', 'owner apps'],
  'PUT /api/admin/apps/:clientId/icon': ['apps.manage', 'owner apps'],
  'DELETE /api/admin/apps/:clientId/icon': ['apps.manage', 'owner apps'],
  'DELETE /api/admin/apps/:clientId': ['apps.manage', 'owner apps', 'fresh'],
  'POST /api/admin/apps/:clientId/secret': ['apps.manage', 'owner apps', 'fresh'],
  'GET /api/admin/apps/:clientId/roles': ['apps.read', 'owner apps auditor'],
  'PUT /api/admin/apps/:clientId/roles': ['apps.manage', 'owner apps'],
  'GET /api/admin/apps/:clientId/claims': ['apps.read', 'owner apps auditor'],
  'PUT /api/admin/apps/:clientId/claims': ['apps.manage', 'owner apps'],
  'POST /api/admin/apps/:clientId/claims/preview': ['apps.manage', 'owner apps'],
  'POST /api/admin/apps/:clientId/resources': ['apps.manage', 'owner apps'],
  'GET /api/admin/apps/:clientId/resources': ['apps.read', 'owner apps auditor'],
  'PATCH /api/admin/apps/:clientId/resources/:resourceKey': ['apps.manage', 'owner apps'],
  'PUT /api/admin/apps/:clientId/webhook': ['apps.manage', 'owner apps'],
  'GET /api/admin/apps/:clientId/webhook': ['apps.read', 'owner apps auditor'],
  'DELETE /api/admin/apps/:clientId/webhook': ['apps.manage', 'owner apps'],
  'POST /api/admin/apps/:clientId/webhook/secret': ['apps.manage', 'owner apps'],
  'POST /api/admin/apps/:clientId/webhook/test': ['apps.manage', 'owner apps'],
  'GET /api/admin/apps/:clientId/webhook/deliveries': ['apps.read', 'owner apps auditor'],
  'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send': ['apps.manage', 'owner apps'],
  'GET /api/admin/organizations': ['organizations.read', 'owner people auditor'],
  'GET /api/admin/organizations/:organizationId': ['organizations.read', 'owner people auditor'],
  'PATCH /api/admin/organizations/:organizationId': ['organizations.manage', 'owner', 'fresh'],
  'GET /api/admin/identities': ['people.read', 'owner people auditor'],
  'POST /api/admin/identities': ['people.invite', 'owner people'],
  'POST /api/admin/identities/:identityId/invitation': ['people.invite', 'owner people'],
  'GET /api/admin/identities/:identityId': ['people.read', 'owner people auditor'],
  'GET /api/admin/identities/:identityId/activity': ['people.activity', 'owner auditor'],
  'GET /api/admin/identities/:identityId/apps': ['people.activity', 'owner auditor'],
  'GET /api/admin/identities/:identityId/export': ['people.export', 'owner', 'fresh'],
  'PATCH /api/admin/identities/:identityId': ['people.edit', 'owner people', 'fresh'],
  'POST /api/admin/identities/:identityId/suspension': ['people.suspend', 'owner people', 'fresh'],
  'DELETE /api/admin/identities/:identityId/suspension': ['people.suspend', 'owner people', 'fresh'],
  'DELETE /api/admin/identities/:identityId': ['people.delete', 'owner', 'fresh'],
  'POST /api/admin/identities/:identityId/restore': ['people.delete', 'owner', 'fresh'],
  'POST /api/admin/identities/:identityId/sign-out': ['people.suspend', 'owner people', 'fresh'],
  'POST /api/admin/identities/:identityId/recovery-links': ['people.recover', 'owner people', 'fresh'],
  'GET /api/admin/identities/:identityId/recovery-links': ['people.recover', 'owner people'],
  'GET /api/admin/identities/:identityId/recovery-links/:recoveryLinkId': ['people.recover', 'owner people'],
  'DELETE /api/admin/identities/:identityId/recovery-links/:recoveryLinkId': [
    'people.recover',
    'owner people',
    'fresh',
  ],
  'GET /api/admin/groups': ['groups.read', 'owner people auditor'],
  'POST /api/admin/groups': ['groups.manage', 'owner people'],
  'GET /api/admin/groups/:groupId': ['groups.read', 'owner people auditor'],
  'PATCH /api/admin/groups/:groupId': ['groups.manage', 'owner people'],
  'DELETE /api/admin/groups/:groupId': ['groups.manage', 'owner people'],
  'GET /api/admin/groups/:groupId/members': ['groups.read', 'owner people auditor'],
  'PUT /api/admin/groups/:groupId/members/:identityId': ['groups.manage', 'owner people'],
  'DELETE /api/admin/groups/:groupId/members/:identityId': ['groups.manage', 'owner people'],
  'POST /api/admin/groups/:groupId/members/batch': ['groups.manage', 'owner people'],
  'GET /api/admin/invitations': ['people.invite', 'owner people'],
  'POST /api/admin/invitations': ['people.invite', 'owner people'],
  'POST /api/admin/invitations/import': ['people.invite', 'owner people'],
  'GET /api/admin/invitations/:invitationId': ['people.invite', 'owner people'],
  'DELETE /api/admin/invitations/:invitationId': ['people.invite', 'owner people'],
  'POST /api/admin/invitations/:invitationId/resend': ['people.invite', 'owner people'],
  'GET /api/admin/keys': ['keys.read', 'owner apps auditor'],
  'POST /api/admin/keys/rotate': ['keys.manage', 'owner', 'fresh'],
  'GET /api/admin/settings': ['settings.read', 'owner auditor'],
  'PATCH /api/admin/settings': ['settings.manage', 'owner', 'fresh'],
  'PUT /api/admin/settings/logo': ['settings.manage', 'owner', 'fresh'],
  'GET /api/admin/settings/revisions': ['settings.read', 'owner auditor'],
  'POST /api/admin/settings/revisions/:revision/restore': ['settings.manage', 'owner', 'fresh'],
  'GET /api/admin/export': ['configuration.export', 'owner people apps auditor'],
  'POST /api/admin/apply': ['configuration.apply', 'owner people apps', 'fresh'],
  'GET /api/admin/audit': ['audit.read', 'owner auditor'],
  'GET /api/admin/audit/export': ['audit.export', 'owner auditor'],
  'GET /api/admin/audit/stream': ['audit.read', 'owner auditor'],
  'GET /api/admin/audit/verify': ['audit.read', 'owner auditor'],
  'GET /api/admin/sinks': ['sinks.manage', 'owner'],
  'POST /api/admin/sinks': ['sinks.manage', 'owner', 'fresh'],
  'GET /api/admin/sinks/:sinkId': ['sinks.manage', 'owner'],
  'PATCH /api/admin/sinks/:sinkId': ['sinks.manage', 'owner', 'fresh'],
  'DELETE /api/admin/sinks/:sinkId': ['sinks.manage', 'owner', 'fresh'],
  'PUT /api/admin/sinks/:sinkId/cursor': ['sinks.manage', 'owner', 'fresh'],
  'POST /api/admin/sinks/:sinkId/secret': ['sinks.manage', 'owner', 'fresh'],
  'POST /api/admin/sinks/:sinkId/test': ['sinks.manage', 'owner', 'fresh'],
  'GET /api/admin/webhooks': ['sinks.manage', 'owner'],
  'POST /api/admin/webhooks': ['sinks.manage', 'owner', 'fresh'],
  'GET /api/admin/webhooks/:webhookId': ['sinks.manage', 'owner'],
  'PATCH /api/admin/webhooks/:webhookId': ['sinks.manage', 'owner', 'fresh'],
  'DELETE /api/admin/webhooks/:webhookId': ['sinks.manage', 'owner', 'fresh'],
  'POST /api/admin/webhooks/:webhookId/secret': ['sinks.manage', 'owner', 'fresh'],
  'POST /api/admin/webhooks/:webhookId/test': ['sinks.manage', 'owner', 'fresh'],
  'GET /api/admin/webhooks/:webhookId/deliveries': ['sinks.manage', 'owner'],
  'POST /api/admin/webhooks/:webhookId/deliveries/:deliveryId/send': ['sinks.manage', 'owner', 'fresh'],
  'GET /api/admin/health': ['statistics.read', 'owner people apps auditor'],
  'GET /api/admin/overview': ['statistics.read', 'owner people apps auditor'],
  'GET /api/admin/backup': ['backup.create', 'owner', 'fresh'],
  'POST /api/admin/restore': ['backup.restore', ''],
  'GET /api/admin/operators': ['operators.read', 'owner auditor'],
  'POST /api/admin/operators': ['operators.manage', 'owner', 'fresh'],
  'PATCH /api/admin/operators/:identityId': ['operators.manage', 'owner', 'fresh'],
  'DELETE /api/admin/operators/:identityId': ['operators.manage', 'owner', 'fresh'],
  'GET /api/admin/tokens': ['tokens.read', 'owner auditor'],
  'POST /api/admin/tokens': ['tokens.manage', 'owner', 'fresh'],
  'POST /api/admin/tokens/:tokenId/rotate': ['tokens.manage', 'owner', 'fresh'],
  'DELETE /api/admin/tokens/:tokenId': ['tokens.manage', 'owner', 'fresh'],
  'GET /api/admin/scim-tokens': ['tokens.read', 'owner auditor'],
  'POST /api/admin/scim-tokens': ['tokens.manage', 'owner', 'fresh'],
  'POST /api/admin/scim-tokens/:tokenId/rotate': ['tokens.manage', 'owner', 'fresh'],
  'DELETE /api/admin/scim-tokens/:tokenId': ['tokens.manage', 'owner', 'fresh'],
}

const ofAdmin = endpoints.flatMap(({ endpoint }) => (endpoint.config.security === 'admin' ? [endpoint] : []))

let world: TestWorld
let operators: Record<OperatorRole, Record<string, string>>
let user: Record<string, string>
let ssoUser: Record<string, string>
const exact = new Map<Permission, Record<string, string>>()
before(async () => {
  world = await createWorld()
  const pageOf = async (role: OperatorRole) => (await makeOperator(world, await world.person(), role)).page
  operators = {
    owner: await pageOf('owner'),
    people: await pageOf('people'),
    apps: await pageOf('apps'),
    auditor: await pageOf('auditor'),
  }
  const person = await world.person()
  user = asPage(world, person.sessionToken)
  const { authorization } = await signInByOrganization(world, await makeOperator(world, await world.person(), 'owner'))
  ssoUser = asPage(world, authorization.replace('Bearer ', ''))
  for (const permission of permissions) {
    if (tokenPermissions.includes(permission)) exact.set(permission, (await createToken(world, [permission])).headers)
  }
})
after(() => world.close())

/** Sends a request about something that does not exist, to learn only whether it is refused. */
async function outcomeOf({ method, url }: AnyEndpoint, headers: Record<string, string>) {
  const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: {} }
  const path = `${url.replaceAll(/:\w+/g, randomUUID())}${endingQueryOf(url)}`
  const answer = await world.api.inject({ method, url: path, headers, ...payload })
  if (answer.statusCode < 400) return { status: answer.statusCode, error: undefined, permission: undefined }
  const { error, permission } = answer.json<{ error: string; permission?: string }>()
  return { status: answer.statusCode, error, permission }
}

/** Checks that a request passed the guard: what it names does not exist, or it was done. */
function assertAllowed({ status, error }: Awaited<ReturnType<typeof outcomeOf>>, message: string): void {
  assert.ok(![401, 403, 429, 500].includes(status), `${message}: ${status} ${error}`)
}

test('OPR-01 every endpoint of the admin API has a row here', () => {
  assert.deepEqual(ofAdmin.map(({ name }) => name).toSorted(), Object.keys(rows).toSorted())
})

for (const [permission, guarded] of Map.groupBy(ofAdmin, ({ name }) => rows[name]?.[0]))
  describe(`what needs ${permission}`, () => {
    let others: Awaited<ReturnType<typeof createToken>>
    before(async () => {
      const remaining = tokenPermissions.filter((other) => other !== permission)
      others = await createToken(world, remaining)
    })
    // There may be 50 tokens at a time.
    after(async () => {
      const url = `/api/admin/tokens/${others.tokenId}`
      const answer = await world.api.inject({ method: 'DELETE', url, headers: world.admin })
      assert.equal(answer.statusCode, 204, answer.body)
    })
    for (const endpoint of guarded) testGuard(endpoint, () => others.headers)
  })

function testGuard(endpoint: AnyEndpoint, ofOthers: () => Record<string, string>): void {
  const [permission, roles = '', fresh] = rows[endpoint.name] ?? []
  const allowed = roles.split(' ')

  test(`OPR-01 ${endpoint.name} is for ${roles || 'no role'}, and tokens with its permission`, async () => {
    assert.ok(permission)
    const denied = { status: 403, error: 'permission_denied', permission }
    for (const role of operatorRoles) {
      const outcome = await outcomeOf(endpoint, operators[role])
      if (allowed.includes(role)) assertAllowed(outcome, role)
      else assert.deepEqual(outcome, denied, role)
    }
    const held = exact.get(permission)
    if (held) assertAllowed(await outcomeOf(endpoint, held), 'a token with this permission')
    assert.deepEqual(await outcomeOf(endpoint, ofOthers()), denied, 'a token with all others')
    assertAllowed(await outcomeOf(endpoint, world.admin), 'ADMIN_TOKEN')
    const refusals = { 'no credentials': {}, 'an ordinary session': user, 'an SSO session': ssoUser }
    assert.deepEqual(await outcomesOf(endpoint, refusals), [
      [401, 'unauthorized'],
      [403, 'permission_denied'],
      [403, 'passkey_required'],
    ])
    assert.equal(endpoint.config.recentAuthentication, fresh === 'fresh')
  })
}

async function outcomesOf(endpoint: AnyEndpoint, all: Record<string, Record<string, string>>) {
  const outcomes: [number, string | undefined][] = []
  for (const headers of Object.values(all)) {
    const { status, error } = await outcomeOf(endpoint, headers)
    outcomes.push([status, error])
  }
  return outcomes
}

test('OPR-01 what needs a recent passkey is refused five minutes later, except to tokens', async () => {
  world.pass(301)
  for (const endpoint of ofAdmin) {
    const [permission, roles = '', fresh] = rows[endpoint.name] ?? []
    assert.ok(permission)
    if (!roles.includes('owner')) continue
    const outcome = await outcomeOf(endpoint, operators.owner)
    if (fresh) assert.deepEqual([outcome.status, outcome.error], [403, 'reauthentication_required'], endpoint.name)
    else assertAllowed(outcome, endpoint.name)
    const held = exact.get(permission)
    if (held) assertAllowed(await outcomeOf(endpoint, held), endpoint.name)
  }
})

test('OPR-01 the table of the documentation has the permissions of each role', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/operations/operators.md'), 'utf8')
  const written = [...page.matchAll(/^\| `([a-z]+\.[a-z]+)` \| (.+) \|$/gm)].map(([, name, cells]) => [name, cells])
  const marksOf = (permission: Permission) =>
    operatorRoles.map((role) => (rolesOfPermission[permission].includes(role) ? '✓' : '–')).join(' | ')
  assert.deepEqual(
    written.map(([name, cells]) => [name, cells?.split(' | ').slice(0, 4).join(' | ')]),
    permissions.map((permission) => [permission, marksOf(permission)]),
  )
})
