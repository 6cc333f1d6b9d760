import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { auditEventsOf } from '#testing/audit-events.ts'
import { replayCouncil } from '#testing/council-replay.ts'
import { createKeyHolder, newSharedKey, setMode } from '#testing/key-holder.ts'
import { recoverAndWait, resetOf, sendReset, storeKeys } from '#testing/key-reset.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { businessRequest, createOrganization, join, membersOf } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})
beforeEach(async () => {
  while (mailbox.count() > 0) await mailbox.take()
})

/** Recovers a user by a link, and resets their keys after the hold. */
async function resetAfterRecovery(person: Person, parts: Parameters<typeof resetOf>[2] = {}) {
  const owner = await recoverAndWait(world, mailbox, person)
  const answer = await sendReset(world, owner, await resetOf(world, owner, parts))
  assert.equal(answer.status, 200, answer.text)
  return owner
}
const again = async (person: Person): Promise<Person> => ({ ...person, headers: await person.signIn() })
const formerOf = async ({ headers }: Pick<Person, 'headers'>, kind: string) =>
  (await world.api.inject({ url: '/api/account/export', headers }))
    .json()
    .formerCiphertexts.filter((each: { kind: string }) => each.kind === kind)

test('KRS-10 a signatory whose keys were reset is suspended, and only the council restores them', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [first] = members
  await storeKeys(world, first)
  const lost = await resetAfterRecovery(first)
  const acting = await again(owner)
  const { council } = (await businessRequest(world, acting, `GET /organizations/${id}/council`)).json()
  const states = council.signatories.map((each: { identityId: string; suspendedAt: string | null }) => [
    each.identityId === first.identityId,
    each.suspendedAt !== null,
  ])
  assert.deepEqual(
    states.filter(([isFirst]: boolean[]) => isFirst),
    [[true, true]],
  )
  assert.equal(states.filter(([, isSuspended]: boolean[]) => isSuspended).length, 1)
  const { organizations } = (
    await world.api.inject({ url: '/api/account/organizations', headers: lost.headers })
  ).json()
  assert.equal(organizations.length, 1, 'the membership stays')
  const events = await auditEventsOf(world.db, first.userId, 'organization.member.keys_reset')
  assert.deepEqual(
    events.map(({ details }) => details),
    [{ memberId: first.memberId, memberIdentityId: first.identityId, signatorySuspended: true }],
  )
  const replayed = (await replayCouncil(world, id, [owner, ...members]))?.signatories ?? []
  assert.deepEqual(
    replayed.flatMap(({ signatoryId, isSuspended }) => (isSuspended ? [signatoryId] : [])),
    [first.identityId],
    'who verifies the trail sees the same council',
  )
})

test('KRS-10 without a council, an owner grants the signing authority again', async () => {
  const { id, owner, members } = await createSignatories(world, 0, 'signer', 'signer')
  const [first, second] = members
  await storeKeys(world, first)
  await resetAfterRecovery(first)
  const acting = await again(owner)
  const authorityOf = async (of: { identityId: string }) =>
    (await membersOf(world, id, acting)).find(({ identityId }) => identityId === of.identityId)?.signingAuthority
  assert.deepEqual([await authorityOf(first), await authorityOf(second)], [false, true])
  const path = `PATCH /organizations/${id}/members/${first.memberId}` as const
  const granted = await businessRequest(world, acting, path, { signingAuthority: true })
  assert.equal(granted.statusCode, 200, granted.body)
  assert.equal(await authorityOf(first), true)
})

test('KRS-11 an organization key is due for rotation, and is shared again with the new encryption key', async () => {
  const [owner, member] = [await createKeyHolder(world), await createKeyHolder(world)]
  const { id } = await createOrganization(world, owner)
  await setMode(world, owner, id, 'e2ee')
  const { memberId } = await join(world, { id, owner, role: 'member' }, member)
  const shared = newSharedKey(id)
  const first = { fingerprint: shared.fingerprint, ciphertext: await shared.wrapTo(owner) }
  const made = await businessRequest(world, owner, `POST /organizations/${id}/keys`, first)
  assert.equal(made.statusCode, 201, made.body)
  const { keyId } = made.json().key
  const path = `/organizations/${id}/keys/${keyId}/wraps`
  const old = await shared.wrapTo(member)
  const grant = (by: Person, ciphertext: string) =>
    businessRequest(world, by, `PUT ${path}`, { wraps: [{ memberId, ciphertext }] })
  assert.equal((await grant(owner, old)).statusCode, 200)

  const lost = await resetAfterRecovery(member, { sequence: 1 })
  const acting = await again(owner)
  const { keys } = (await businessRequest(world, acting, `GET /organizations/${id}/keys`)).json()
  const [key]: OrganizationKey[] = keys
  assert.equal(key?.rotationDueSince, world.now().toISOString())
  assert.equal(key.membersWithout, 1)
  const { publicKey } = (await world.api.inject({ url: `/api/encryption/identity-key/${member.handle}` })).json()
  const rewrapped = await shared.wrapTo({ identityId: member.identityId, publicKey })
  assert.equal((await grant(acting, rewrapped)).statusCode, 200)
  const former = await formerOf(lost, 'organization_key')
  assert.deepEqual(
    former.map((each: { reference: string; ciphertext: string }) => [each.reference, each.ciphertext]),
    [[keyId, old]],
  )
})

test('KRS-12 an app gets a new key after a reset, and the old one is kept with what it belongs to', async () => {
  const app = await world.app({ supportsE2ee: true })
  const person = await world.person()
  await storeKeys(world, person)
  await app.code(person, { encryptedAppKey: 'old.app.key' })
  const lost = await resetAfterRecovery(person)
  const url = `/api/oauth/authorization/${app.clientId}?identity_id=${person.identityId}`
  const view = (await world.api.inject({ url, headers: lost.headers })).json()
  assert.equal(view.authorization?.encryptedAppKey ?? null, null)
  await app.code(lost, { encryptedAppKey: 'new.app.key' })
  const stored = (await world.api.inject({ url, headers: lost.headers })).json()
  assert.equal(stored.authorization.encryptedAppKey, 'new.app.key')
  const former = await formerOf(lost, 'app_key')
  assert.deepEqual(
    former.map((each: { reference: string; ciphertext: string }) => [each.reference, each.ciphertext]),
    [[app.clientId, 'old.app.key']],
  )
})
