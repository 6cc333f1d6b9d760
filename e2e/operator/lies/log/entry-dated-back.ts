import { hashKeyEvent, parseKeyEvent, writeKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import type { ResponseOf } from '@countersign/protocol/api'
import { sha256 } from '../../../../server/platform/crypto/secret.ts'
import { getLog } from '../../../../server/signing/transparency/log.ts'
import { promiseInclusion } from '../../../../server/signing/transparency/promise.ts'
import { defineLie, type Means } from '../../lie.ts'
import { bytesOf } from '../../rows.ts'

type Rotated = ResponseOf<'PUT /api/signing/keys/:identityId'>

const hour = 3_600_000

/**
 * Dates the entry of each rotation an hour back, before the entry that it follows: in the log, and in the promise that
 * the owner's browser gets. The proofs of the owner are genuine.
 */
export const entryDatedBack = defineLie<object>({
  answers: (_facts, means) => ({
    async 'PUT /api/signing/keys/:identityId'(text) {
      const { logEntry, ...answer } = JSON.parse(text) as Rotated
      return JSON.stringify({ ...answer, logEntry: await dateBack(means(), logEntry.leaf) })
    },
  }),
})

async function dateBack({ db, keyring, now }: Means, leaf: string): Promise<Rotated['logEntry']> {
  const event = parseKeyEvent(leaf)
  if (!event) throw new Error('the entry cannot be parsed')
  const dated = writeKeyEvent({ ...event, at: new Date(Date.parse(event.at) - hour).toISOString() })
  await db
    .updateTable('transparency_leaf')
    .set({ leaf_data: dated, leaf_sha256: bytesOf(hashKeyEvent(sha256, dated)) })
    .where('leaf_sha256', '=', bytesOf(hashKeyEvent(sha256, leaf)))
    .execute()
  return promiseInclusion(keyring, await getLog(db), dated, now)
}
