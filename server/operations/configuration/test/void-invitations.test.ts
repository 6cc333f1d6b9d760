import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { limits } from '@countersign/protocol/formats/limits'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'
import type { ConfigurationChange } from '@countersign/protocol/operations/configuration'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
const rights: Permission[] = ['configuration.apply', 'people.invite', 'groups.manage']
const dayInSeconds = 24 * 3600

function send(method: Method, path: string, payload?: object, headers: Headers = world.admin) {
  return world.api.inject({ method, url: `/api/admin/${path}`, headers, ...(payload && { payload }) })
}

type Options = { headers?: Headers; dryRun?: boolean }

async function apply(document: object, { headers = world.admin, dryRun = false }: Options = {}) {
  const whole = { apiVersion: 'countersign/v1', source: 'void', ...document }
  const answer = await send('POST', 'apply', { document: whole, dryRun }, headers)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ changes: ConfigurationChange[] }>().changes.map(({ object, action }) => `${action} ${object}`)
}

async function statusesOf(email: string): Promise<string[]> {
  const { invitations } = (await send('GET', 'invitations?limit=100')).json<{ invitations: AccountInvitation[] }>()
  return invitations.filter((each) => each.email === email).map(({ status }) => status)
}

/** Invites an address by a token that is then deleted, so that the invitation is void. */
async function inviteVoid(email: string): Promise<void> {
  const { tokenId, headers } = await createToken(world, ['people.invite'])
  assert.equal((await send('POST', 'invitations', { kind: 'mail', email }, headers)).statusCode, 201)
  await send('DELETE', `tokens/${tokenId}`)
}

const group = (displayName: string) => ({ key: 'renamed', displayName })

test('CNF-09 a document replaces as many void invitations as it can invite, and the next one the others', async () => {
  const { tokenId, headers } = await createToken(world, rights)
  const half = limits.invitationsPerDocumentMax / 2
  const formerly = Array.from({ length: 2 * half + 10 }, (_, nth) => ({ email: `many-${nth}@example.com` }))
  for (const invitations of [formerly.slice(0, half + 10), formerly.slice(half + 10)])
    await apply({ invitations }, { headers })
  const { headers: successor } = await createToken(world, rights)
  await send('DELETE', `tokens/${tokenId}`)

  const first = Array.from({ length: half }, (_, nth) => ({ email: `first-${nth}@example.com` }))
  const document = { groups: [group('Many')], invitations: [...formerly, ...first] }
  const created = (changes: string[]) => changes.filter((change) => change.startsWith('create invitations/')).length
  const shown = await apply(document, { headers: successor, dryRun: true })
  assert.deepEqual(await apply(document, { headers: successor }), shown)
  assert.equal(shown[0], 'create groups/renamed')
  assert.equal(created(shown), limits.invitationsPerDocumentMax)
  for (const { email } of first) assert.ok(shown.includes(`create invitations/${email}`))
  assert.equal(created(await apply(document, { headers: successor })), half + 10)
  assert.equal(created(await apply(document, { headers: successor })), 0)

  const over = Array.from({ length: 2 * half + 1 }, (_, nth) => ({ email: `over-${nth}@example.com` }))
  const refused = { document: { apiVersion: 'countersign/v1', source: 'void', invitations: over }, dryRun: false }
  assert.equal((await send('POST', 'apply', refused, successor)).statusCode, 400)
})

test('CNF-09 a void invitation that the operator may not replace stays, and the others are changed', async () => {
  const { headers } = await createToken(world, rights)
  const email = 'protected@example.com'
  const { groupId } = (await send('POST', 'groups', { key: 'guarded', displayName: 'Guarded' })).json()
  const document = { invitations: [{ email, groups: ['guarded'] }] }
  assert.deepEqual(await apply(document, { headers }), [`create invitations/${email}`])
  assert.equal((await send('PATCH', `groups/${groupId}`, { protected: true })).statusCode, 200)
  assert.deepEqual(await statusesOf(email), ['void'])
  for (const dryRun of [true, false]) {
    const changed = { groups: [group('Guarded')], ...document }
    const expected = ['update groups/renamed', `none invitations/${email}`]
    assert.deepEqual(await apply(changed, { headers, dryRun }), expected)
  }
  const unknown = { invitations: [{ email, groups: ['unknown'] }] }
  assert.deepEqual(await apply(unknown), [`none invitations/${email}`])
  assert.deepEqual(await statusesOf(email), ['void'])

  const first = [{ email: 'first@example.com', groups: ['guarded'] }]
  const refused = { document: { apiVersion: 'countersign/v1', source: 'void', invitations: first }, dryRun: true }
  assert.equal((await send('POST', 'apply', refused, headers)).json().error, 'permission_denied')
  assert.deepEqual(await apply(document), [`create invitations/${email}`])
  assert.deepEqual(await statusesOf(email), ['pending'])
})

test('CNF-09 without mail, a document with a void invitation is applied, and the invitation stays', async (t) => {
  const email = 'unmailed@example.com'
  await inviteVoid(email)
  const { mail } = world.kernel
  t.after(() => Object.assign(world.kernel, { mail }))
  const off = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => off.close())
  Object.assign(world.kernel, { mail: off.kernel.mail })
  const document = { groups: [group('Without mail')], invitations: [{ email }] }
  for (const dryRun of [true, false])
    assert.deepEqual(await apply(document, { dryRun }), ['update groups/renamed', `none invitations/${email}`])
  assert.deepEqual(await statusesOf(email), ['void'])
})

test('CNF-09 a pending or used invitation of an address decides, and else all void ones are replaced', async () => {
  const email = 'several@example.com'
  assert.equal((await send('POST', 'invitations', { kind: 'mail', email })).statusCode, 201)
  world.pass(8 * dayInSeconds)
  for (let nth = 0; nth < 2; nth += 1) await inviteVoid(email)
  assert.deepEqual(await statusesOf(email), ['void', 'void', 'expired'])
  const document = { invitations: [{ email }] }
  assert.deepEqual(await apply(document), [`create invitations/${email}`])
  assert.deepEqual(await statusesOf(email), ['pending', 'expired'])

  await inviteVoid(email)
  assert.deepEqual(await statusesOf(email), ['void', 'pending', 'expired'])
  assert.deepEqual(await apply(document), [`none invitations/${email}`])
  world.pass(8 * dayInSeconds)
  assert.deepEqual(await apply(document), [`none invitations/${email}`])
})
