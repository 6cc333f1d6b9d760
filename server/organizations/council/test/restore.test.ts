import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { createTrailVerifier } from '@countersign/protocol/signing/acts/trail-verification'
import { createCouncilReplay } from '@countersign/protocol/signing/acts/council-replay'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { extendTrails, writeTrail } from '#platform/audit/trail.ts'
import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { businessRequest } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createWorld } from '#testing/world.ts'

const known = {
  secretKey: 'a-secret-key-for-tests-of-32-characters',
  environment: { DATA_DIR: tmpdir() },
}

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
  const answer = await restored.api.inject({
    method: 'POST',
    url: '/api/admin/restore',
    headers: { ...restored.admin, 'content-type': backupMediaType },
    payload: backup.rawPayload,
  })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(await restored.db.selectFrom('organization_council_reset').selectAll().execute(), [])
  const { count } = await restored.db
    .selectFrom('organization_signatory')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(count), 3)

  // The trail says so: a replay expects another request before a reset.
  await extendTrails(restored.db)
  const organizationId = asId<OrganizationId>(id)
  const people = [owner, ...members]
  const publicKeyOf = (identityId: string) => people.find((each) => each.identityId === identityId)?.pair.publicKey
  const verifier = createTrailVerifier(nodeSuite, { organizationId, issuer: world.config.authUrl.origin, publicKeyOf })
  const replay = createCouncilReplay()
  for await (const piece of writeTrail(restored.db, organizationId, { after: 0 }))
    for (const line of piece.split('\n').filter((each) => each !== '')) {
      const record = JSON.parse(line)
      const verified = verifier.add(record)
      if ('flaw' in verified) assert.fail(verified.flaw)
      assert.equal(replay.add(verified, record.details), undefined)
    }
  assert.equal(replay.council()?.resetRequestedAt, undefined)
})
