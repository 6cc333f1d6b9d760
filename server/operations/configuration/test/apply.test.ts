import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { ConfigurationChange, ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import type { App } from '@countersign/protocol/clients/apps'
import type { Group } from '@countersign/protocol/accounts/groups'
import type { Settings } from '@countersign/protocol/operations/settings'
import { createToken, makeOperator } from '#testing/operators.ts'
import { mailDue } from '#accounts/invitations/mailing.ts'
import { transaction } from '#platform/database/database.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { createOrganization } from '#testing/organization.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Options = { headers?: Record<string, string>; dryRun?: boolean; [option: string]: unknown }
type Plan = { changes: ConfigurationChange[]; digest: string }

function send(document: object, { headers = world.admin, ...options }: Options = {}) {
  const payload = { document: { apiVersion: 'countersign/v1', source: 'platform', ...document }, ...options }
  return world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
}

async function plan(document: object, options: Options = {}): Promise<Plan> {
  const answer = await send(document, options)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

const apply = (document: object, options: Options = {}) => plan(document, { dryRun: false, ...options })
const actionsOf = ({ changes }: Plan) => changes.map(({ object, action }) => `${action} ${object}`)

async function exported(source?: string): Promise<ConfigurationDocument> {
  const url = `/api/admin/export${source === undefined ? '' : `?source=${source}`}`
  const answer = await world.api.inject({ url, headers: world.admin })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function read<Found>(path: string): Promise<Found> {
  return (await world.api.inject({ url: `/api/admin/${path}`, headers: world.admin })).json()
}

const appOf = async ({ changes }: Plan) => {
  const field = changes.flatMap(({ fields }) => fields).find(({ path }) => path === 'clientId')
  return String(field?.to)
}
const redirectUris = ['https://app.example.com/callback']

test('a dry run shows what applying does, and changes nothing', async () => {
  const document = {
    settings: { 'branding.name': 'Example ID' },
    groups: [{ key: 'dry', displayName: 'Dry' }],
    apps: [{ key: 'dry', name: 'Dry', redirectUris, access: { mode: 'restricted', groups: ['dry'] } }],
  }
  const before = await exported()
  const shown = await plan(document)
  assert.deepEqual(actionsOf(shown), ['update settings', 'create groups/dry', 'create apps/dry'])
  assert.deepEqual(shown.changes[0]?.fields, [{ path: 'branding.name', from: null, to: 'Example ID' }])
  assert.deepEqual(await exported(), before)

  const done = await apply(document, { digest: shown.digest })
  assert.deepEqual(done, shown)
  const app = await read<App>(`apps/${await appOf(done)}`)
  assert.deepEqual([app.name, app.redirectUris, app.access.groups], ['Dry', redirectUris, ['dry']])
})

test('CNF-02 a document applied again changes nothing, and neither does an export', async () => {
  const { slug } = await createOrganization(world, await world.person())
  const document = {
    settings: {
      ...{ 'branding.name': 'Example ID', 'branding.accent': '#ABCDEF', 'legal.terms': 'https://example.com/t' },
      'audit.retentionDays': 365,
    },
    groups: [
      { key: 'staff', displayName: 'Staff', description: 'All of us' },
      { key: 'eng', displayName: 'Engineering', protected: true },
    ],
    apps: [
      {
        key: 'grafana',
        name: 'Grafana',
        redirectUris: [...redirectUris, 'https://app.example.com/other'],
        allowedScopes: ['openid', 'groups', 'email'],
        clientSecret: 'a-secret-of-32-characters-or-more',
        color: '#ABCDEF',
        access: { mode: 'restricted', groups: ['staff', 'eng'], organizations: [slug], contact: 'it@example.com' },
        groupsClaim: { include: 'all' },
        accessTokenTtlSeconds: 600,
      },
      { key: 'phone', name: 'Phone', redirectUris: ['com.example.phone:/callback'], public: true },
    ],
    invitations: [{ email: 'Ada@Example.com', groups: ['staff'], language: 'de', displayName: 'Ada' }],
  }
  const first = await apply(document)
  assert.ok(first.changes.every(({ action }) => action !== 'none'))
  for (const again of [document, await exported(), await exported('platform')])
    for (const dryRun of [true, false]) {
      const { changes } = await plan(again, { dryRun })
      assert.ok(changes.length >= 6, JSON.stringify(again))
      assert.ok(
        changes.every(({ action, fields }) => action === 'none' && fields.length === 0),
        JSON.stringify(changes),
      )
    }
  while ((await mailDue(world.kernel)) > 0);
  const mails = world.kernel.mail.inbox?.list().filter(({ to }) => to === 'Ada@example.com')
  assert.equal(mails?.length, 1)
})

test('CNF-02 SET-11 domains are declared in any order and spelling, and the mode with them or not at all', async () => {
  const alone = await send({ settings: { 'registration.mode': 'domains' } })
  assert.deepEqual([alone.statusCode, alone.json().error], [400, 'invalid_request'])
  const settings = { 'registration.mode': 'domains', 'registration.domains': ['B.example', '*.a.example'] }
  const { changes } = await apply({ settings })
  assert.deepEqual(
    changes[0]?.fields.find(({ path }) => path === 'registration.domains'),
    { path: 'registration.domains', from: null, to: ['*.a.example', 'b.example'] },
  )
  const { settings: written } = await exported()
  assert.deepEqual(written?.['registration.domains'], ['*.a.example', 'b.example'])
  for (const again of [{ settings }, { settings: written }])
    assert.deepEqual(actionsOf(await apply(again)), ['none settings'])
  await apply({ settings: { 'registration.mode': null, 'registration.domains': null } })
  assert.equal((await exported()).settings?.['registration.domains'], undefined)
})

test('an absent field stays, and null restores its default', async () => {
  const key = 'defaults'
  const name = 'Defaults'
  const created = await apply({ apps: [{ key, name, redirectUris, allowedScopes: ['openid'], description: 'Text' }] })
  const clientId = await appOf(created)
  await apply({ apps: [{ key, name: 'Renamed' }] })
  assert.deepEqual((await read<App>(`apps/${clientId}`)).allowedScopes, ['openid'])
  const { changes } = await apply({ apps: [{ key, allowedScopes: null, description: null, color: null }] })
  assert.deepEqual(
    changes[0]?.fields.map(({ path }) => path),
    ['allowedScopes', 'description'],
  )
  const app = await read<App>(`apps/${clientId}`)
  assert.deepEqual([app.name, app.description, app.access.mode], ['Renamed', null, 'everyone'])
  assert.ok(app.allowedScopes.length > 1)
  await apply({ settings: { 'legal.privacy': 'https://example.com/p' } })
  await apply({ settings: { 'legal.privacy': null } })
  assert.equal((await exported()).settings?.['legal.privacy'], undefined)
})

test('a client ID follows from issuer, source and key', async () => {
  const document = { apps: [{ key: 'predicted', name: 'Predicted', redirectUris }] }
  const [one, again, other] = [
    await appOf(await plan(document)),
    await appOf(await apply(document)),
    await appOf(await plan({ ...document, source: 'another' })),
  ]
  assert.equal(one, again)
  assert.notEqual(one, other)
  assert.match(one, /^app_[0-9a-f]{32}$/)
})

test('what one change refuses undoes all, and the error names the object', async () => {
  const before = await exported()
  const wrong: [object, number, string, string][] = [
    [
      { apps: [{ key: 'w', name: 'W', redirectUris: ['http://evil.example/'] }] },
      400,
      'invalid_redirect_uri',
      'apps/w',
    ],
    [{ apps: [{ key: 'w', name: 'W' }] }, 400, 'invalid_request', 'apps/w'],
    [{ apps: [{ key: 'w', name: 'W', redirectUris, access: { groups: ['no'] } }] }, 404, 'group_not_found', 'apps/w'],
    [
      { apps: [{ key: 'w', name: 'W', redirectUris, access: { organizations: ['no'] } }] },
      ...([404, 'organization_not_found', 'apps/w'] as const),
    ],
    [{ apps: [{ key: `app_${'0'.repeat(32)}`, name: 'W', redirectUris }] }, 404, 'app_not_found', 'apps/app_'],
    [{ groups: [{ key: 'system:w', displayName: 'W' }] }, 400, 'invalid_request', 'groups/system:w'],
    [{ groups: [{ key: 'w' }] }, 400, 'invalid_request', 'groups/w'],
    [{ settings: { 'legal.terms': 'javascript:alert(1)' } }, 400, 'invalid_request', 'settings'],
    [{ invitations: [{ email: 'nobody' }] }, 400, 'invalid_email', 'invitations/nobody'],
  ]
  for (const [document, status, code, object] of wrong)
    for (const dryRun of [true, false]) {
      const good = { groups: [{ key: 'undone', displayName: 'Undone' }], ...document }
      const answer = await send(good, { dryRun })
      assert.deepEqual([answer.statusCode, answer.json().error], [status, code], answer.body)
      assert.ok(String(answer.json().object).startsWith(object), answer.body)
    }
  const twice = await send({ groups: ['A', 'B'].map((displayName) => ({ key: 'twice', displayName })) })
  assert.equal(twice.statusCode, 400)
  assert.deepEqual(await exported(), before)
})

test('CNF-04 objects of others are changed only if they are adopted', async () => {
  const made = await world.api.inject({
    method: 'POST',
    url: '/api/admin/groups',
    headers: world.admin,
    payload: { key: 'by-hand', displayName: 'By hand' },
  })
  assert.equal(made.statusCode, 201)
  const document = { groups: [{ key: 'by-hand', displayName: 'Declared' }] }
  const refused = await send(document, { dryRun: false })
  assert.deepEqual(
    [refused.statusCode, refused.json().error, refused.json().object],
    [409, 'managed_elsewhere', 'groups/by-hand'],
  )
  assert.deepEqual(actionsOf(await apply(document, { adopt: true })), ['adopt groups/by-hand'])
  assert.equal(
    (await send({ ...document, groups: [{ key: 'by-hand', displayName: 'X' }], source: 'b' })).statusCode,
    409,
  )
  assert.deepEqual(actionsOf(await apply({ groups: [{ key: 'by-hand', displayName: 'Ours' }] })), [
    'update groups/by-hand',
  ])

  const app = await world.app({ name: 'Made by hand' })
  const declared = { apps: [{ key: app.clientId, name: 'Adopted' }] }
  assert.equal((await send(declared)).json().error, 'managed_elsewhere')
  assert.deepEqual(actionsOf(await apply(declared, { adopt: true })), [`adopt apps/${app.clientId}`])
})

test('CNF-05 a plan that was shown is the one that is made, or none is', async () => {
  const document = { groups: [{ key: 'planned', displayName: 'Planned' }] }
  const { digest } = await plan(document)
  await apply({ groups: [{ key: 'planned', displayName: 'Meanwhile' }] })
  const refused = await send(document, { dryRun: false, digest })
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'plan_changed'])
  const { groups } = await read<{ groups: Group[] }>('groups?key=planned')
  assert.equal(groups[0]?.displayName, 'Meanwhile')
})

test('CNF-05 settings that another request changes meanwhile are not changed by the plan', async () => {
  const { revision } = await read<Settings>('settings')
  const applying = await transaction(world.db, async (tx) => {
    await sql`
      insert into setting_revision (revision, created_at, stored, changed_keys, operator_kind)
      values (${revision + 1}, ${world.now()}, '{"branding.name": "Meanwhile"}', '{branding.name}', 'break_glass')
    `.execute(tx)
    const begun = send({ settings: { 'branding.name': 'Planned' } }, { dryRun: false })
    await untilWaiting(world.db, 1)
    return { begun }
  })
  const answer = await applying.begun
  const name = (await read<Settings>('settings')).settings['branding.name']?.value
  // The embedded database makes one change after the other.
  if (isShared) assert.deepEqual([answer.statusCode, answer.json().error, name], [409, 'plan_changed', 'Meanwhile'])
  else assert.deepEqual([answer.statusCode, name], [200, 'Planned'])
})

test('CNF-06 applying needs the permission of each object, and for registration that of operators', async () => {
  const page = async (role: 'people' | 'apps' | 'owner') => (await makeOperator(world, await world.person(), role)).page
  const group = { groups: [{ key: 'rights', displayName: 'Rights' }] }
  const app = { apps: [{ key: 'rights', name: 'Rights', redirectUris }] }
  const [people, apps, owner] = [await page('people'), await page('apps'), await page('owner')]
  const invitation = { invitations: [{ email: 'rights@example.com' }] }
  const setting = { settings: { 'branding.name': 'Rights' } }
  const guarded = { groups: [{ key: 'guarded', displayName: 'Guarded', protected: true }] }
  await apply(guarded)
  const token = await createToken(world, ['configuration.apply', 'settings.manage'])
  const denied: [Record<string, string>, object, string][] = [
    [people, app, 'apps.manage'],
    [people, setting, 'settings.manage'],
    [people, { groups: [{ key: 'guarded', displayName: 'Mine' }] }, 'operators.manage'],
    [apps, group, 'groups.manage'],
    [apps, invitation, 'people.invite'],
    [token.headers, { settings: { 'registration.mode': 'closed' } }, 'operators.manage'],
  ]
  for (const [headers, document, permission] of denied) {
    const answer = await send(document, { headers })
    assert.deepEqual([answer.statusCode, answer.json().permission], [403, permission], answer.body)
  }
  for (const [headers, document] of [
    [people, group],
    [apps, app],
    [people, invitation],
    [owner, { settings: { 'registration.mode': 'invited' } }],
  ] as const)
    assert.equal((await send(document, { headers })).statusCode, 200)
  const read = await world.api.inject({ url: '/api/admin/export', headers: apps })
  assert.deepEqual(
    ['settings', 'groups', 'invitations'].filter((section) => section in read.json()),
    [],
  )
})

test('CNF-03 a secret is compared, and is in no plan, export, event or log', async () => {
  const secrets = ['first-', 'second-'].map((name) => name + 'x'.repeat(32))
  const [first = '', second = ''] = secrets
  const withSecret = (clientSecret: string) => ({ apps: [{ key: 'secret', name: 'S', redirectUris, clientSecret }] })
  const created = await apply(withSecret(first))
  const clientId = await appOf(created)
  assert.deepEqual(actionsOf(await apply(withSecret(first))), ['none apps/secret'])
  const changed = await apply(withSecret(second))
  assert.deepEqual(changed.changes[0]?.fields, [{ path: 'clientSecret', from: null, to: null }])

  const authenticates = async (secret: string) => {
    const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
    const payload = 'token=nothing'
    const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/introspect', headers, payload })
    return answer.statusCode
  }
  assert.deepEqual([await authenticates(first), await authenticates(second)], [401, 200])

  const refused = await send(withSecret('too-short-secret'))
  assert.equal(refused.statusCode, 400)
  assert.ok(!refused.body.includes('too-short-secret'))
  const events = await world.db.selectFrom('audit_event').selectAll().execute()
  const everything = JSON.stringify([created, changed, await exported(), await exported('platform'), events])
  for (const secret of secrets) assert.ok(!everything.includes(secret))
})
