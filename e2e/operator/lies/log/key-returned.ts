import type { IdentityId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { appendKeyEvent, getKeyChain } from '../../../../server/signing/transparency/event.ts'
import { defineLie } from '../../lie.ts'
import { insertNextKey } from '../../rows.ts'

/** Makes the key that an identity has replaced its current one again, in the rows and in the log. */
export const keyReturned = defineLie<{ identityId: IdentityId }>({
  rows: ({ db, now }, { identityId }) =>
    transaction(db, async (tx) => {
      const former = await tx
        .selectFrom('signing_key')
        .select(['public_key', 'encrypted_private_key'])
        .where('identity_id', '=', identityId)
        .where('replaced_at', 'is not', null)
        .executeTakeFirstOrThrow()
      const chain = await getKeyChain(tx, identityId)
      const keyVersion = (chain.last?.keyVersion ?? 0) + 1
      const publicKey = Buffer.from(former.public_key)
      const key = {
        keyVersion,
        publicKey: publicKey.toString('base64'),
        encryptedPrivateKey: former.encrypted_private_key ?? '',
      }
      await insertNextKey(tx, identityId, key, now)
      const entry = { event: 'rotated' as const, keyVersion, publicKey, possession: null, link: null }
      await appendKeyEvent(tx, chain, entry, now)
    }),
})
