import { randomUUIDv7 } from 'node:crypto'
import { organizationKeyBytes } from '@countersign/protocol/formats/encryption/key-grant'
import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { type Member } from '#organizations/membership/member.ts'
import { fingerprintOf, unwrapWithKms, wrapWithKms } from './kms.ts'
import * as store from './store.ts'
import type { KeyRow } from './store.ts'
import type { KmsCallDeps } from './kms-call.ts'

/** Dependencies for generating and opening organization keys. */
export type KeyDeps = KmsCallDeps

/** Identifies a key of an organization. */
export type OrganizationKeyRef = { organizationId: OrganizationId; keyId: string }

/** A key stored by the service or by the organization's KMS, as in the database. */
export type StoredOrganizationKey = OrganizationKeyRef & {
  custody: KeyRow['custody']
  sealedKey: string
  fingerprint: string
}

/** A newly generated key. `sealedBy` is the URL of the KMS that sealed it, if any. */
type MadeKey = StoredOrganizationKey & { sealedBy: string | undefined }

/**
 * Generates a key for an organization in an encryption mode in which members do not generate it. Throws
 * `kms_unavailable`.
 */
export async function generateOrganizationKey(
  keeping: KeyDeps,
  { organizationId, encryptionMode }: Pick<Member['organization'], 'organizationId' | 'encryptionMode'>,
  now: Date,
): Promise<MadeKey> {
  const place = { organizationId, keyId: randomUUIDv7() }
  const key = randomBytes(organizationKeyBytes)
  const made = { ...place, custody: keyCustodyOfMode[encryptionMode], fingerprint: fingerprintOf(key) }
  try {
    if (encryptionMode === 'enterprise_managed') return { ...made, ...(await wrapWithKms(keeping, place, key, now)) }
    const sealedKey = await keeping.kernel.keyring.seal(sealOf(place), key.toString('base64'))
    return { ...made, sealedKey, sealedBy: undefined }
  } finally {
    key.fill(0)
  }
}

/** Opens a key for a single use and clears it afterwards. Throws `kms_unavailable`. */
export async function withDecryptedKey<Result>(
  keeping: KeyDeps,
  kept: StoredOrganizationKey,
  borrow: (key: Buffer) => Promise<Result>,
  now: Date,
): Promise<Result> {
  const key = await openKey(keeping, kept, now)
  try {
    return await borrow(key)
  } finally {
    key.fill(0)
  }
}

async function openKey(keeping: KeyDeps, kept: StoredOrganizationKey, now: Date): Promise<Buffer> {
  const { custody, sealedKey, fingerprint, keyId } = kept
  if (custody === 'customer_kms') return unwrapWithKms(keeping, kept, (key) => fingerprintOf(key) === fingerprint, now)
  const key = Buffer.from(await keeping.kernel.keyring.open(sealOf(kept), sealedKey), 'base64')
  if (fingerprintOf(key) !== fingerprint) throw new Error(`the key ${keyId} does not match its fingerprint`)
  return key
}

/** Re-encrypts keys that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptOrganizationKeys({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { sealedKey: before, ...place } of await store.listSealedKeys(db, keyring)) {
    if (before === null) continue
    const after = await keyring.renew(sealOf(place), before)
    if (after !== before) await store.replaceSealed(db, place, { before, after })
  }
}

const sealOf = ({ organizationId, keyId }: OrganizationKeyRef) => `organization-key:${organizationId}:${keyId}`
