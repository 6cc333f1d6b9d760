import type { IdentityId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as signatureUseStore from './signature-use-store.ts'
import type { SignatureUse } from './signature-use-store.ts'

const errors = defineErrors({
  signature_reused: [409, 'This signature was given to another app, for another organization or in another role.'],
})

/**
 * Binds a signature to the app, the organization and the role for which it is given. The signature covers the text
 * alone. Without the binding, its bytes would answer any other request with the same text to the identity.
 *
 * @throws `signature_reused`
 */
export async function bindSignature(tx: Transaction, signature: Uint8Array, use: SignatureUse): Promise<void> {
  if (!(await signatureUseStore.insertUse(tx, sha256(signature), use))) throw errors.signature_reused()
}

/**
 * Records a signature that was given with an approval. The approval covers app, organization and role itself, so the
 * bytes may be known from another request; their first use alone stays recorded.
 */
export async function recordApprovedSignature(
  tx: Transaction,
  signature: Uint8Array,
  use: SignatureUse,
): Promise<void> {
  await signatureUseStore.insertUse(tx, sha256(signature), use)
}

/** Deletes the signature uses of deleted identities. Their keys are deleted, so they cannot sign any more. */
export async function deleteSignatureUses(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await signatureUseStore.deleteUses(tx, identityIds)
}
