import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { refusals } from '#platform/refusal.ts'
import * as signatureUseStore from './signature-use-store.ts'
import type { SignatureUse } from './signature-use-store.ts'

const refuse = refusals({
  signature_reused: [409, 'This signature was given to another app, for another organization or in another role.'],
})

/**
 * Binds a signature to the app, the organization and the role for which it is given. The signature covers the text
 * alone, so without this the bytes of one answer would answer whatever else asks the same text of the identity.
 *
 * @throws `signature_reused`
 */
export async function bindSignature(tx: Transaction, signature: Uint8Array, use: SignatureUse): Promise<void> {
  if (!(await signatureUseStore.insertUse(tx, sha256(signature), use))) throw refuse.signature_reused()
}

/** Deletes the uses of identities that are deleted: with their keys gone nothing of theirs can be signed. */
export async function deleteSignatureUses(tx: Transaction, identityIds: string[]): Promise<void> {
  await signatureUseStore.deleteUses(tx, identityIds)
}
