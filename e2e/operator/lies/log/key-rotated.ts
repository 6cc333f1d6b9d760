import type { IdentityId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { appendKeyEvent, getKeyChain } from '../../../../server/signing/transparency/event.ts'
import { keyProofsOf, newSigningPair } from '../../../../server/testing/signer.ts'
import { defineLie } from '../../lie.ts'
import { bytesOf, insertNextKey } from '../../rows.ts'

/**
 * Replaces an identity's key by one of the operator, in the rows and in the log. The operator proves its possession of
 * it. The link by the former key, which it does not have, is missing, or forged with the new key.
 */
export const keyRotated = defineLie<{ identityId: IdentityId; isLinkForged: boolean }>({
  rows: ({ db, now }, { identityId, isLinkForged }) =>
    transaction(db, async (tx) => {
      const pair = newSigningPair()
      const chain = await getKeyChain(tx, identityId)
      const keyVersion = (chain.last?.keyVersion ?? 0) + 1
      const { publicKey } = pair
      await insertNextKey(tx, identityId, { keyVersion, publicKey, encryptedPrivateKey: 'a.b.c.d.e' }, now)
      const event = { event: 'rotated' as const, keyVersion, previous: chain.previous, identityId, to: pair }
      const { possession, link = null } = keyProofsOf(event, {
        log: chain.log.origin,
        ...(isLinkForged && { from: pair }),
      })
      const entry = { event: 'rotated' as const, keyVersion, publicKey: bytesOf(publicKey), possession, link }
      await appendKeyEvent(tx, chain, entry, now)
    }),
})
