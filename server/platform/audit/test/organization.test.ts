import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import { type ClientId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
let id: OrganizationId
before(async () => {
  world = await createWorld()
  owner = await world.person()
  id = (await createOrganization(world, owner)).id
  await join(world, { id, owner, role: 'admin' }, await world.person())
})
after(() => world.close())

const read = (query = '') => businessRequest(world, owner, `GET /organizations/${id}/audit${query}`)

async function entries(query = ''): Promise<OrganizationAuditEntry[]> {
  const answer = await read(query)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().entries
}

test('an organization has an audit log of its own, with the actions of its members there only', async () => {
  await createOrganization(world, owner, 'Other')
  const received = await entries()
  assert.deepEqual(
    received.map(({ action }) => action),
    ['organization.member.joined', 'organization.invitation.created', 'organization.created'],
  )
  assert.deepEqual(
    [received[2]?.handle, received[2]?.identityId, received[2]?.actor],
    [owner.handle, owner.identityId, 'user'],
  )
})

test('the audit log is read in pages and filtered by action', async () => {
  const [first, all] = [(await read('?limit=1')).json(), await entries()]
  assert.deepEqual([first.entries, first.nextCursor], [all.slice(0, 1), all[0]?.entryId])
  assert.deepEqual(await entries(`?cursor=${first.nextCursor}`), all.slice(1))
  const kinds = async (action: string) => (await entries(`?action=${action}`)).map((entry) => entry.action)
  assert.deepEqual(await kinds('organization.member'), ['organization.member.joined'])
  assert.deepEqual(await kinds('organization.created'), ['organization.created'])
  assert.deepEqual([await kinds('organization_member'), await kinds('organization.creat')], [[], []])
})

test('INJ-15 an instant that no clock shows is rejected, also in the export', async () => {
  for (const text of ['2026-06-30T23:59:60Z', '2026-06-30T23:59:59+01'])
    for (const name of ['from', 'before'])
      for (const path of ['audit?', 'audit/export?format=csv&']) {
        const url = `GET /organizations/${id}/${path}${name}=${encodeURIComponent(text)}` as const
        const answer = await businessRequest(world, owner, url)
        assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], url)
      }
})

test('CSV-01 the audit log is exported as CSV without formulas, or as JSON lines', async () => {
  const details = { name: '=HYPERLINK("https://evil.example")', note: 'a,"b"' }
  const clientId = asId<ClientId>('=1+1')
  const act = { action: 'organization.updated', actor: 'app', organizationId: id, clientId, details } as const
  await recordAuditEvent(world.db, act, world.now())
  const file = (format: string) =>
    businessRequest(world, owner, `GET /organizations/${id}/audit/export?format=${format}`)

  const csv = await file('csv')
  assert.match(String(csv.headers['content-type']), /^text\/csv/)
  assert.match(String(csv.headers['content-disposition']), /^attachment; filename="organization-trail.csv"$/)
  const [head = '', first = '', ...rest] = csv.body.trimEnd().split('\r\n')
  assert.match(head, /^"entryId","at","action"/)
  assert.match(first, /,"organization.updated","app","","","'=1\+1","\{""name""/)
  assert.equal(rest.length, 3)

  const lines = (await file('jsonl')).body.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    await entries(),
  )
})

test('INV-70 the audit log does not follow the names of those who were invited and never joined', async () => {
  const [declining, ignoring] = [await world.person(), await world.person()]
  const invited: string[] = []
  for (const { handle } of [declining, ignoring]) {
    const made = await businessRequest(world, owner, `POST /organizations/${id}/invitations`, {
      handle,
      role: 'viewer',
    })
    assert.equal(made.statusCode, 201, made.body)
    invited.push(made.json().invitation.invitationId)
  }
  const namesIn = async (text: string) =>
    [declining, ignoring].filter(({ identityId }) =>
      JSON.parse(text).people.some((each: { identityId: string }) => each.identityId === identityId),
    ).length
  assert.equal(await namesIn((await read()).body), 2)

  const answer = `POST /organizations/${id}/invitations/${invited[0]}/decline` as const
  const declined = await businessRequest(world, declining, answer, { identityId: declining.identityId })
  assert.equal(declined.statusCode, 204, declined.body)
  const revoked = await businessRequest(world, owner, `DELETE /organizations/${id}/invitations/${invited[1]}`)
  assert.equal(revoked.statusCode, 204, revoked.body)
  const handles = ['moved-away', 'moved-too']
  for (const [nth, { identityId, headers }] of [declining, ignoring].entries()) {
    const payload = { handle: handles[nth], displayName: 'Somewhere Else' }
    const moved = await world.api.inject({ method: 'PATCH', url: `/api/identities/${identityId}`, headers, payload })
    assert.equal(moved.statusCode, 200, moved.body)
  }
  for (const path of ['audit', 'audit/export?format=csv', 'audit/export?format=jsonl'] as const) {
    const { body } = await businessRequest(world, owner, `GET /organizations/${id}/${path}`)
    for (const text of [...handles, 'Somewhere Else']) assert.ok(!body.includes(text), `${path}: ${text}`)
    assert.ok(body.includes('organization.invitation.declined'))
  }
})
