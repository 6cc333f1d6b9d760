import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { actorOf } from '#testing/actor.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { tablesWith } from '#testing/stored-text.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/security/growth.md'), 'utf8')

/** Runs the example of the documentation that erases by an address and a username, for others than those in it. */
async function eraseTexts(email: string, handle: string): Promise<void> {
  const examples = [...guide.matchAll(/```sql\n(.+?)```/gs).map(([, text = '']) => text)]
  const [example = '', ...more] = examples.filter((text) => text.includes("'ada'"))
  assert.deepEqual(more, [])
  await sql.raw(example.replaceAll('ada@example.org', email).replaceAll("'ada'", `'${handle}'`)).execute(world.db)
}

async function verifyChain() {
  const answer = await world.api.inject({ url: '/api/admin/audit/verify?limit=1000', headers: world.admin })
  return answer.json<{ broken: unknown; head: string; erased: number }>()
}

test('LOG-06 the documented statement erases what others wrote about a deleted user, and breaks no chain', async () => {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const member = actorOf(world, owner)
  const [handle, email] = ['Erased.Victim', 'erased.victim@acme.example']
  const victim = await world.person(handle)
  const send = (method: 'POST' | 'DELETE', url: string, payload?: object) =>
    world.api.inject({ method, url, headers: victim.headers, ...(payload && { payload }) })
  await send('POST', `/api/identities/${victim.identityId}/email`, { email })
  await send('POST', `/api/identities/${victim.identityId}/email/verify`, { code: codeIn(await mailbox.take()) })

  const invite = (body: object) => member.act(`POST /organizations/${id}/invitations`, { role: 'member', ...body })
  const named = (await invite({ handle })).json().result.invitation.invitationId
  const mailed = (await invite({ email })).json().result.invitation.invitationId
  for (const invitationId of [named, mailed]) {
    const path = `POST /organizations/${id}/invitations/${invitationId}/decline` as const
    const declined = await businessRequest(world, victim, path, { identityId: victim.identityId })
    assert.equal(declined.statusCode, 204, declined.body)
  }
  for (const q of [email, handle])
    await world.api.inject({ url: `/api/admin/identities?q=${encodeURIComponent(q)}`, headers: world.admin })
  assert.equal((await send('DELETE', '/api/account')).statusCode, 204)
  const { head } = await verifyChain()
  const ofDeclined = world.db.selectFrom('audit_event').where('action', '=', 'organization.invitation.declined')
  for (const { details } of await ofDeclined.select('details').execute())
    assert.deepEqual(Object.keys(Object(details)).toSorted(), ['invitationId', 'role'])

  assert.deepEqual(await tablesWith(world.db, email), ['audit_event', 'organization_trail'])
  await eraseTexts(email, handle.toLowerCase())
  assert.deepEqual(await tablesWith(world.db, email), [])
  assert.deepEqual(await tablesWith(world.db, handle), ['identity_handle'], 'the username is reserved, for no identity')
  const chain = await verifyChain()
  assert.deepEqual([chain.broken, chain.head], [null, head])
  assert.ok(chain.erased > 0)
})
