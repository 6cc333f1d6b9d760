import { randomUUID } from 'node:crypto'
import type { IdentityId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { appendKeyEvent, getKeyChain } from '../../../../server/signing/transparency/event.ts'
import { keyProofsOf, newSigningPair } from '../../../../server/testing/signer.ts'
import { defineLie } from '../../lie.ts'
import { bytesOf } from '../../rows.ts'

/**
 * Builds another log under the same name and key: without the entry of a key, and with entries of strangers at its end.
 * The service signs the heads of this log from now on, with valid proofs for all that it contains. Without strangers,
 * and if the entry was the last, it is an earlier state of the log.
 */
export const logRebuilt = defineLie<{ withoutKey: string; strangers: number }>({
  rows: ({ db, now }, { withoutKey, strangers }) =>
    transaction(db, async (tx) => {
      await tx.deleteFrom('transparency_leaf').where('leaf_data', 'like', `%${withoutKey}%`).execute()
      await tx.updateTable('transparency_leaf').set({ leaf_index: null }).execute()
      await tx.deleteFrom('transparency_node').execute()
      await tx.updateTable('transparency_log').set({ size: 0 }).execute()
      for (let count = 0; count < strangers; count += 1) {
        const [identityId, pair] = [randomUUID() as IdentityId, newSigningPair()]
        const chain = await getKeyChain(tx, identityId)
        const event = { event: 'created' as const, keyVersion: 1, previous: null, identityId, to: pair }
        const { possession } = keyProofsOf(event, { log: chain.log.origin })
        const entry = { event: 'created' as const, keyVersion: 1, publicKey: bytesOf(pair.publicKey), possession }
        await appendKeyEvent(tx, chain, { ...entry, link: null }, now)
      }
    }),
})
