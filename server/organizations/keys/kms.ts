import { randomUUID } from 'node:crypto'
import { organizationKeyBytes } from '@countersign/protocol/formats/encryption/key-grant'
import type { Kms } from '@countersign/protocol/organizations/keys'
import type { Transaction } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/digest.ts'
import { idle } from '#platform/idle.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable } from '#platform/outbound/fetch.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import { requireFresh } from '#accounts/sessions/session.ts'
import { actingMemberTransaction, requireMember, type Asking } from '#organizations/membership/access.ts'
import { fingerprintOf } from './key-fingerprint.ts'
import { askToUnwrap, askToWrap, type Calling, type KmsPlace } from './kms-call.ts'
import * as store from './kms-store.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'

const refuse = refusals({
  invalid_kms: [400, 'There is no KMS at this address that opens again what it has wrapped.'],
  kms_not_found: [404, 'This organization has no KMS.'],
  kms_in_use: [409, 'Keys of this organization are with its KMS, or its mode wants one.'],
  kms_without_keys: [409, 'This KMS does not open the keys that the organization has.'],
  kms_changed: [409, 'Somebody else has just changed this. Look at it again.'],
  kms_unavailable: [503, 'The KMS of this organization does not answer as it should. Try again in a moment.'],
})

/** Whatever is wrong at an address is told no sooner: by how fast it is, nobody tells apart where we have knocked. */
const failureMilliseconds = 1000

type KeyPlace = Omit<KmsPlace, 'url'>

/** Has the KMS of an organization wrap a key, and says which one has. Refuses `kms_unavailable`. */
export async function sealWithKms(calling: Calling, place: KeyPlace, key: Buffer, now: Date) {
  const sealedBy = await requireUrl(calling.kernel, place.organizationId)
  const sealedKey = await available(calling.kernel, () => askToWrap(calling, { ...place, url: sealedBy }, key, now))
  return { sealedKey, sealedBy }
}

/** Has the KMS of an organization open a key, which must be the right one. Refuses `kms_unavailable`. */
export async function openWithKms(
  calling: Calling,
  { sealedKey, ...place }: KeyPlace & { sealedKey: string },
  isRight: (key: Buffer) => boolean,
  now: Date,
): Promise<Buffer> {
  const url = await requireUrl(calling.kernel, place.organizationId)
  return available(calling.kernel, () => openAt(calling, { ...place, sealedKey, url }, isRight, now))
}

async function requireUrl({ db }: Kernel, organizationId: string): Promise<string> {
  const url = await store.findKmsUrl(db, organizationId)
  if (url === undefined) throw refuse.kms_unavailable()
  return url
}

async function openAt(
  calling: Calling,
  { sealedKey, ...place }: KmsPlace & { sealedKey: string },
  isRight: (key: Buffer) => boolean,
  now: Date,
): Promise<Buffer> {
  const key = await askToUnwrap(calling, place, sealedKey, now)
  if (!isRight(key)) throw new Unreachable('another_key')
  return key
}

async function available<Result>({ log }: Kernel, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    log.warn({ reason: error.reason }, 'the KMS of an organization does not answer as it should')
    throw refuse.kms_unavailable({ headers: { 'retry-after': '30' } })
  }
}

/** The KMS of an organization. Refuses as `requireMember`, and `kms_not_found`. */
export async function readKms(kernel: Kernel, asking: Asking, now: Date): Promise<Kms> {
  await requireMember(kernel, asking, 'manage_keys', now)
  const found = await store.findKms(kernel.db, asking.organizationId)
  if (!found) throw refuse.kms_not_found()
  return toKms(found)
}

/**
 * Sets the KMS of an organization, once it is seen to open what it wraps, and the keys that the organization has with
 * one. Refuses what `requireMember` and `recordAct` do, `reauthentication_required`, `rate_limited`, `invalid_kms`,
 * `kms_without_keys`, `kms_changed`.
 */
export async function setKms(calling: Calling, asking: Asking, url: string, now: Date): Promise<Kms> {
  const { kernel } = calling
  const { db, config, outbound, rateLimits } = kernel
  const { session, organizationId } = asking
  await requireMember(kernel, asking, 'manage_keys', now)
  requireFresh(session, now)
  const objection = URL.parse(url)?.search ? 'has no query' : outbound.objectionTo(url)
  if (objection !== undefined) throw refuse.invalid_kms({ sentence: `The address of a KMS ${objection}.` })
  await rateLimits.count('kms of an organization', organizationId)
  await unhurried(kernel, refuse.invalid_kms, () => tryOut(calling, { url, organizationId }, now))
  const kept = await store.listKeysOfKms(db, organizationId)
  await unhurried(kernel, refuse.kms_without_keys, () => openAll(calling, url, kept, now))
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    const present = await store.listKeysOfKms(tx, organizationId)
    if (!present.every((key) => kept.some(({ keyId }) => keyId === key.keyId))) throw refuse.kms_changed()
    await store.upsertKms(tx, { organizationId, url }, now)
    await recordAct(tx, { asking, acting }, { action: 'organization.kms.set', details: { url } }, now)
    return toKms({ url, checkedAt: now })
  })
}

/** Throws `Unreachable` where it does not open what it has wrapped, or opens it for another key. */
async function tryOut(
  calling: Calling,
  { url, organizationId }: { url: string; organizationId: string },
  now: Date,
): Promise<void> {
  const key = randomBytes(organizationKeyBytes)
  const place = { url, organizationId, keyId: randomUUID() }
  const sealedKey = await askToWrap(calling, place, key, now)
  if (sealedKey.includes(key.toString('base64'))) throw new Unreachable('not_wrapped')
  await openAt(calling, { ...place, sealedKey }, (opened) => equalBytes(opened, key), now)
}

type Kept = Awaited<ReturnType<typeof store.listKeysOfKms>>

async function openAll(calling: Calling, url: string, kept: Kept, now: Date): Promise<void> {
  for (const { fingerprint, ...place } of kept) {
    const opened = await openAt(calling, { ...place, url }, (key) => fingerprintOf(key) === fingerprint, now)
    opened.fill(0)
  }
}

/** Asks somewhere else, and lets nobody tell why there was no answer to use. */
async function unhurried({ log }: Kernel, refusal: () => Error, work: () => Promise<void>): Promise<void> {
  const begun = performance.now()
  try {
    await work()
  } catch (error) {
    await idle(begun + failureMilliseconds - performance.now())
    if (!(error instanceof Unreachable)) throw error
    log.info({ reason: error.reason }, 'the KMS that an organization has named was of no use')
    throw refusal()
  }
}

/**
 * Takes the KMS away from an organization that has nothing there. Refuses what `requireMember` and `recordAct` do,
 * `reauthentication_required`, `kms_not_found`, `kms_in_use`.
 */
export async function removeKms({ db, config }: Kernel, asking: Asking, now: Date): Promise<void> {
  const { organizationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    requireFreshToAct(asking, now)
    const isWanted = acting.organization.encryptionMode === 'enterprise_managed'
    if (isWanted || (await store.listKeysOfKms(tx, organizationId)).length > 0) throw refuse.kms_in_use()
    if (!(await store.deleteKms(tx, organizationId))) throw refuse.kms_not_found()
    await recordAct(tx, { asking, acting }, { action: 'organization.kms.removed' }, now)
  })
}

/** Whether an organization has a KMS. */
export async function hasKms(tx: Transaction, organizationId: string): Promise<boolean> {
  return (await store.findKmsUrl(tx, organizationId)) !== undefined
}

function toKms({ url, checkedAt }: store.KmsRow): Kms {
  return { url, checkedAt: checkedAt.toISOString() }
}
