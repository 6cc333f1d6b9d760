import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ConfigurationChange } from '@countersign/protocol/operations/configuration'
import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { deletePruned } from '#operations/configuration/pruned.ts'
import { mailDue } from '#accounts/invitations/mailing.ts'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Plan = { changes: ConfigurationChange[]; digest: string }

function send(source: string, document: object, options: object = {}) {
  const payload = { document: { apiVersion: 'countersign/v1', source, ...document }, dryRun: false, ...options }
  return world.api.inject({ method: 'POST', url: '/api/admin/apply', headers: world.admin, payload })
}

async function apply(source: string, document: object, options: object = {}): Promise<string[]> {
  const answer = await send(source, document, options)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Plan>().changes.map(({ object, action }) => `${action} ${object}`)
}

async function clientIdOf(source: string, key: string): Promise<string> {
  const { client_id: clientId } = await world.db
    .selectFrom('configuration_object')
    .select('client_id')
    .where('managed_by', '=', source)
    .where('object_key', '=', key)
    .executeTakeFirstOrThrow()
  return String(clientId)
}

const get = (path: string) => world.api.inject({ url: `/api/admin/${path}`, headers: world.admin })
const groups = (...keys: string[]) => ({ groups: keys.map((key) => ({ key, displayName: key })) })
const app = (key: string) => ({ key, name: key, redirectUris: ['https://app.example.com/callback'] })
const thirtyOneDays = 31 * 24 * 3600

test('CNF-07 pruning deletes what this source manages, and nothing of others', async () => {
  await apply('ours', groups('ours-a', 'ours-b'))
  await apply('theirs', groups('theirs'))
  await world.api.inject({
    method: 'POST',
    url: '/api/admin/groups',
    headers: world.admin,
    payload: { key: 'made-by-hand', displayName: 'By hand' },
  })
  assert.deepEqual(await apply('ours', groups('ours-a')), ['none groups/ours-a'])
  assert.deepEqual(await apply('ours', {}, { prune: true }), [])
  assert.deepEqual(await apply('ours', groups('ours-a'), { prune: true }), [
    'none groups/ours-a',
    'delete groups/ours-b',
  ])
  const keys = (await get('groups')).json<{ groups: { key: string }[] }>().groups.map(({ key }) => key)
  assert.deepEqual(keys, ['made-by-hand', 'ours-a', 'theirs'])
  assert.deepEqual(await apply('ours', groups('ours-a', 'ours-b')), ['none groups/ours-a', 'create groups/ours-b'])
})

test('CNF-07 a plan that deletes more than five objects is made only with their number', async () => {
  const many = ['1', '2', '3', '4', '5', '6'].map((nth) => `many-${nth}`)
  await apply('many', groups(...many))
  const shown = await send('many', groups(), { prune: true, dryRun: true })
  assert.equal(shown.json<Plan>().changes.length, 6)
  for (const confirm of [undefined, 5, 7]) {
    const refused = await send('many', groups(), { prune: true, confirm })
    assert.deepEqual(
      [refused.statusCode, refused.json().error, refused.json().count],
      [409, 'confirmation_required', 6],
    )
  }
  assert.equal((await apply('many', groups(), { prune: true, confirm: 6 })).length, 6)
})

test('CNF-08 a pruned app is disabled, deleted after 30 days, and restored by its document until then', async () => {
  await apply('apps', { apps: [app('kept'), app('gone'), app('back'), app('enabled')] })
  const [gone, back, enabled] = [
    await clientIdOf('apps', 'gone'),
    await clientIdOf('apps', 'back'),
    await clientIdOf('apps', 'enabled'),
  ]
  const pruned = await apply('apps', { apps: [app('kept')] }, { prune: true })
  assert.deepEqual(pruned.toSorted(), ['delete apps/back', 'delete apps/enabled', 'delete apps/gone', 'none apps/kept'])
  assert.deepEqual(await apply('apps', { apps: [app('kept')] }, { prune: true }), ['none apps/kept'])
  for (const clientId of [gone, back, enabled]) assert.equal((await get(`apps/${clientId}`)).json().status, 'disabled')

  assert.deepEqual(await apply('apps', { apps: [app('back')] }), ['update apps/back'])
  assert.equal((await get(`apps/${back}`)).json().status, 'active')
  await world.api.inject({
    method: 'PATCH',
    url: `/api/admin/apps/${enabled}`,
    headers: world.admin,
    payload: { status: 'active' },
  })
  const later = (seconds: number) => new Date(world.now().getTime() + seconds * 1000)
  await deletePruned(world.db, later(29 * 24 * 3600), 100)
  assert.equal((await get(`apps/${gone}`)).statusCode, 200)
  await deletePruned(world.db, later(thirtyOneDays), 100)
  assert.equal((await get(`apps/${gone}`)).statusCode, 404)
  for (const clientId of [back, enabled]) assert.equal((await get(`apps/${clientId}`)).json().status, 'active')
})

test('CNF-08 a pruned app that operators enable, and disable again for another reason, is not deleted', async () => {
  await apply('incident', { apps: [app('shared')] })
  const clientId = await clientIdOf('incident', 'shared')
  await apply('incident', { apps: [] }, { prune: true })
  for (const status of ['active', 'disabled']) {
    world.pass(24 * 3600)
    const payload = { status }
    const url = `/api/admin/apps/${clientId}`
    const changed = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload })
    assert.equal(changed.json().status, status)
  }
  await deletePruned(world.db, new Date(world.now().getTime() + thirtyOneDays * 1000), 100)
  assert.equal((await get(`apps/${clientId}`)).json().status, 'disabled')
})

test('CNF-09 an address is invited once, also if the invitation is gone, or an operator made it', async () => {
  const email = 'once@example.com'
  const document = { invitations: [{ email }] }
  const mails = async () => {
    while ((await mailDue(world.kernel)) > 0);
    return world.kernel.mail.inbox?.list().filter(({ to }) => to.toLowerCase() === email).length
  }
  assert.deepEqual(await apply('once', document), [`create invitations/${email}`])
  assert.equal(await mails(), 1)
  assert.deepEqual(await apply('once', { invitations: [{ email: 'Once@Example.com' }] }), [
    'none invitations/Once@Example.com',
  ])
  assert.deepEqual(await apply('another', document), [`none invitations/${email}`])
  await world.db.deleteFrom('invitation').execute()
  assert.deepEqual(await apply('once', document), [`none invitations/${email}`])
  assert.equal(await mails(), 1)

  const byHand = 'hand@example.com'
  await world.api.inject({
    method: 'POST',
    url: '/api/admin/invitations',
    headers: world.admin,
    payload: { kind: 'mail', email: byHand },
  })
  assert.deepEqual(await apply('once', { invitations: [{ email: byHand }] }), [`none invitations/${byHand}`])
  assert.deepEqual(await apply('once', { invitations: [{ email: byHand }] }, { adopt: true }), [
    `adopt invitations/${byHand}`,
  ])
  assert.deepEqual(await apply('once', { invitations: [] }, { prune: true }), [`delete invitations/${byHand}`])
  const left = (await get('invitations')).json<{ invitations: AccountInvitation[] }>().invitations
  assert.deepEqual(left, [])
})

test('CNF-09 an address whose invitation is void is invited again, once', async () => {
  const [declared, byHand] = ['void@example.com', 'void-by-hand@example.com']
  const { tokenId, headers } = await createToken(world, ['configuration.apply', 'people.invite'])
  const request = { method: 'POST', headers } as const
  const first = { apiVersion: 'countersign/v1', source: 'former', invitations: [{ email: declared }] }
  const applied = { url: '/api/admin/apply', payload: { document: first, dryRun: false } }
  assert.equal((await world.api.inject({ ...request, ...applied })).statusCode, 200)
  const invited = { url: '/api/admin/invitations', payload: { kind: 'mail', email: byHand } }
  assert.equal((await world.api.inject({ ...request, ...invited })).statusCode, 201)
  await world.api.inject({ method: 'DELETE', url: `/api/admin/tokens/${tokenId}`, headers: world.admin })

  const emails = [declared, byHand]
  const document = { invitations: emails.map((email) => ({ email })) }
  const created = emails.map((email) => `create invitations/${email}`)
  assert.deepEqual(await apply('successor', document, { dryRun: true }), created)
  assert.deepEqual(await apply('successor', document), created)
  const { invitations } = (await get('invitations')).json<{ invitations: AccountInvitation[] }>()
  const statuses = emails.map((email) => invitations.filter((each) => each.email === email).map(({ status }) => status))
  assert.deepEqual(statuses, [['pending'], ['pending']])
  assert.deepEqual(
    await apply('successor', document),
    emails.map((email) => `none invitations/${email}`),
  )
})

test('two requests that apply one document at the same time create each object once', async () => {
  const email = 'raced@example.com'
  const documents: object[] = [groups('raced'), { apps: [app('raced')] }, { invitations: [{ email }] }]
  for (const document of documents) {
    const answers = await Promise.all([1, 2, 3].map(() => send('raced', document)))
    assert.ok(answers.some(({ statusCode }) => statusCode === 200))
    for (const answer of answers)
      if (answer.statusCode !== 200) assert.match(answer.json().error, /^(group_exists|app_exists|plan_changed)$/)
    assert.match((await apply('raced', document)).join(), /^none [^,]+$/)
  }
  while ((await mailDue(world.kernel)) > 0);
  assert.equal(world.kernel.mail.inbox?.list().filter(({ to }) => to === email).length, 1)
})

test('the JSON schema of files names secrets by reference', async () => {
  const answer = await world.auth.inject({ url: '/schema/countersign-v1.json' })
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-type']), /^application\/schema\+json/)
  const schema = answer.json()
  assert.equal(schema.$id, `${world.config.authUrl.origin}/schema/countersign-v1.json`)
  const { clientSecret, redirectUris } = schema.properties.apps.items.properties
  assert.deepEqual(
    clientSecret.oneOf.map(({ required }: { required: string[] }) => required),
    [['fromEnv'], ['fromFile']],
  )
  assert.equal(redirectUris.type, 'array')
})
