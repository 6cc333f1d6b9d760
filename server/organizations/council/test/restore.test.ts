import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { replayCouncil } from '#testing/council-replay.ts'
import { businessRequest } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const known = {
  secretKey: 'a-secret-key-for-tests-of-32-characters',
  environment: { DATA_DIR: tmpdir() },
}

async function restore(world: TestWorld, backup: Buffer) {
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/admin/restore',
    headers: { ...world.admin, 'content-type': backupMediaType },
    payload: backup,
  })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(await world.db.selectFrom('organization_council_reset').selectAll().execute(), [])
}

test('CNC-53 a restore does not veto a request for a reset that has expired', async (t) => {
  const world = await createWorld(known)
  t.after(() => world.close())
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  const backup = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  const restored = await createWorld(known)
  t.after(() => restored.close())
  restored.pass(limits.councilResetUntilSeconds)
  await restore(restored, backup.rawPayload)
  const replayed = await replayCouncil(restored, id, [owner, ...members])
  assert.equal(replayed?.approvalsNeeded, 1)
  const vetoes = await restored.db
    .selectFrom('audit_event')
    .select('action')
    .where('action', '=', 'organization.council.reset_vetoed')
    .execute()
  assert.deepEqual(vetoes, [])
})

test('CNC-53 a backup from before a veto does not bring back the request for a reset', async (t) => {
  const world = await createWorld(known)
  t.after(() => world.close())
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  const backup = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  const veto = await businessRequest(world, members[0], `DELETE /organizations/${id}/council/reset`)
  assert.equal(veto.statusCode, 204)

  const restored = await createWorld(known)
  t.after(() => restored.close())
  await restore(restored, backup.rawPayload)
  const { count } = await restored.db
    .selectFrom('organization_signatory')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(count), 3)

  // The trail says so: a replay expects another request before a reset.
  const replayed = await replayCouncil(restored, id, [owner, ...members])
  assert.ok(replayed)
  assert.equal(replayed.resetRequestedAt, undefined)
})
