import assert from 'node:assert/strict'
import { createTrailVerifier } from '@countersign/protocol/signing/acts/trail-verification'
import { createCouncilReplay } from '@countersign/protocol/signing/acts/council-replay'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { extendTrails, writeTrail } from '#platform/audit/trail.ts'
import type { Signatory } from './signatories.ts'
import type { TestWorld } from './world.ts'

/** Verifies the trail of an organization with the keys of its signers, and returns the council that it leads to. */
export async function replayCouncil({ db, config }: Pick<TestWorld, 'db' | 'config'>, id: string, people: Signatory[]) {
  await extendTrails(db)
  const organizationId = asId<OrganizationId>(id)
  const publicKeyOf = (identityId: string) => people.find((each) => each.identityId === identityId)?.pair.publicKey
  const verifier = createTrailVerifier(nodeSuite, { organizationId, issuer: config.authUrl.origin, publicKeyOf })
  const replay = createCouncilReplay()
  for await (const piece of writeTrail(db, organizationId, { after: 0 }))
    for (const line of piece.split('\n').filter((each) => each !== '')) {
      const record = JSON.parse(line)
      const verified = verifier.add(record)
      if ('flaw' in verified) assert.fail(verified.flaw)
      assert.equal(replay.add(verified, record.details), undefined)
    }
  return replay.council()
}
