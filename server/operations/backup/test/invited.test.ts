import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { openInvited } from '#testing/invited.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const options = { secretKey: 'a-secret-key-for-tests-of-32-characters', environment: { DATA_DIR: tmpdir() } }
let world: TestWorld
let restored: TestWorld
before(async () => {
  ;[world, restored] = [await createWorld(options), await createWorld(options)]
})
after(() => Promise.all([world.close(), restored.close()]))

test('REG-15 a restored server keeps invited identities without their invitations, to invite them again', async () => {
  const { identity, identityId, token, names } = await openInvited(world).add()
  const backup = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  const headers = { ...restored.admin, 'content-type': backupMediaType }
  const payload = backup.rawPayload
  const answer = await restored.api.inject({ method: 'POST', url: '/api/admin/restore', headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)

  const { operate, entryOf, preview } = openInvited(restored)
  assert.deepEqual(await entryOf(identityId), identity)
  const found = await operate('GET', `identities?q=${names.handle}&status=invited`)
  assert.equal(found.answer.json<{ count: number }>().count, 1)
  assert.equal((await preview(token)).error, 'invitation_expired')
  assert.equal((await register(restored, {}, names)).error, 'handle_taken')
  const again = await operate('POST', `identities/${identityId}/invitation`, {})
  const invitation = again.answer.json<{ token: string }>().token
  assert.equal((await register(restored, { invitation }, names)).identity?.identityId, identityId)
})
