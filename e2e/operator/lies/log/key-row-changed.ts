import type { IdentityId } from '@countersign/protocol/ids'
import { newSigningPair } from '../../../../server/testing/signer.ts'
import { defineLie } from '../../lie.ts'
import { bytesOf } from '../../rows.ts'

/** Writes another public key into the row of an identity's signing key. The log stays as it is. */
export const keyRowChanged = defineLie<{ identityId: IdentityId }>({
  async rows({ db }, { identityId }) {
    await db
      .updateTable('signing_key')
      .set({ public_key: bytesOf(newSigningPair().publicKey) })
      .where('identity_id', '=', identityId)
      .where('replaced_at', 'is', null)
      .execute()
  },
})
