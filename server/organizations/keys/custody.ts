import { randomUUIDv7 } from 'node:crypto'
import { organizationKeyBytes } from '@countersign/protocol/formats/encryption/key-grant'
import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import type { Database } from '#platform/database/database.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import type { Member } from '#organizations/membership/access.ts'
import { fingerprintOf } from './key-fingerprint.ts'
import * as store from './store.ts'
import type { KeyRow } from './store.ts'
import type { Calling } from './kms-call.ts'
import { openWithKms, sealWithKms } from './kms.ts'

/** What it takes to make and open keys. */
export type Keeping = Calling

/** Which organization's key it is, and which of its keys. */
export type KeyPlace = { organizationId: string; keyId: string }

/** A key that the service, or the KMS of its organization, keeps: as it stands in the database. */
export type KeptKey = KeyPlace & { custody: KeyRow['custody']; sealedKey: string; fingerprint: string }

/** A new one; `sealedBy` is the address of the KMS that has sealed it, if one has. */
type MadeKey = KeptKey & { sealedBy: string | undefined }

/** Makes a key for an organization in a mode in which members do not make it themselves. Refuses `kms_unavailable`. */
export async function makeKey(
  keeping: Keeping,
  { organizationId, encryptionMode }: Pick<Member['organization'], 'organizationId' | 'encryptionMode'>,
  now: Date,
): Promise<MadeKey> {
  const place = { organizationId, keyId: randomUUIDv7() }
  const key = randomBytes(organizationKeyBytes)
  const made = { ...place, custody: keyCustodyOfMode[encryptionMode], fingerprint: fingerprintOf(key) }
  try {
    if (encryptionMode === 'enterprise_managed') return { ...made, ...(await sealWithKms(keeping, place, key, now)) }
    const sealedKey = await keeping.kernel.keyring.seal(sealOf(place), key.toString('base64'))
    return { ...made, sealedKey, sealedBy: undefined }
  } finally {
    key.fill(0)
  }
}

/** Opens a key for one use of it, after which it is forgotten. Refuses `kms_unavailable`. */
export async function lendKey<Result>(
  keeping: Keeping,
  kept: KeptKey,
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

async function openKey(keeping: Keeping, kept: KeptKey, now: Date): Promise<Buffer> {
  const { custody, sealedKey, fingerprint, keyId } = kept
  if (custody === 'customer_kms') return openWithKms(keeping, kept, (key) => fingerprintOf(key) === fingerprint, now)
  const key = Buffer.from(await keeping.kernel.keyring.open(sealOf(kept), sealedKey), 'base64')
  if (fingerprintOf(key) !== fingerprint) throw new Error(`the key ${keyId} is not the one of its fingerprint`)
  return key
}

/** Seals anew what another root than the first has sealed, so that the operator can let that one go. */
export async function resealOrganizationKeys({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { sealedKey: before, ...place } of await store.listSealedKeys(db)) {
    if (before === null) continue
    const after = await keyring.renew(sealOf(place), before)
    if (after !== before) await store.replaceSealed(db, place, { before, after })
  }
}

const sealOf = ({ organizationId, keyId }: KeyPlace) => `organization-key:${organizationId}:${keyId}`
