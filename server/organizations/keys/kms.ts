import { hkdfSync, randomUUID } from 'node:crypto'
import { keyFingerprintInfo, organizationKeyBytes } from '@countersign/protocol/formats/encryption/key-grant'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Kms } from '@countersign/protocol/organizations/keys'
import type { Transaction } from '#platform/database/database.ts'
import { equalBytes } from '#platform/crypto/secret.ts'
import { idle } from '#platform/idle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { OutboundError } from '#platform/outbound/fetch.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { type KmsCallDeps, type KmsPlace, kmsUnwrap, kmsWrap } from './kms-call.ts'
import * as store from './kms-store.ts'
import {
  recordSignedAction,
  requireRecentAuthenticationForAction,
  requireRecentAuthenticationForCall,
} from '#organizations/acts/signed-action.ts'
import { countChange } from '#organizations/acts/start-limit.ts'

const fingerprintBytes = 32

/** Key identifier that distinguishes keys of an organization and reveals nothing about them. */
export function fingerprintOf(key: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', key, '', keyFingerprintInfo, fingerprintBytes)).toString('base64url')
}

const errors = defineErrors({
  invalid_kms: [400, 'The KMS at this URL does not unwrap what it wrapped.'],
  kms_not_found: [404, 'This organization has no KMS.'],
  kms_in_use: [409, 'The KMS still protects keys, or the encryption mode requires one.'],
  kms_cannot_unwrap: [409, "The KMS cannot unwrap the organization's existing keys."],
  kms_changed: [409, 'The KMS configuration was changed concurrently. Read it and try again.'],
  kms_unavailable: [503, "The organization's KMS did not respond correctly. Retry later."],
})

/**
 * Minimum time before any failure at an address is reported, so that the duration reveals nothing about the network.
 */
const failureMilliseconds = 1000

/** Maximum number of concurrent requests to a KMS that must unwrap all keys of an organization. */
const unwrappedAtOnce = 5

type OrganizationKeyRef = Omit<KmsPlace, 'url'>

/** Wraps a key with the KMS of an organization, and returns the KMS used. Throws `kms_unavailable`. */
export async function wrapWithKms(calling: KmsCallDeps, place: OrganizationKeyRef, key: Buffer, now: Date) {
  const sealedBy = await requireUrl(calling.kernel, place.organizationId)
  const sealedKey = await available(calling.kernel, () => kmsWrap(calling, { ...place, url: sealedBy }, key, now))
  return { sealedKey, sealedBy }
}

/** Unwraps a key with the KMS of an organization, and checks its fingerprint. Throws `kms_unavailable`. */
export async function unwrapWithKms(
  calling: KmsCallDeps,
  { sealedKey, ...place }: OrganizationKeyRef & { sealedKey: string },
  isRight: (key: Buffer) => boolean,
  now: Date,
): Promise<Buffer> {
  const url = await requireUrl(calling.kernel, place.organizationId)
  return available(calling.kernel, () => openAt(calling, { ...place, sealedKey, url }, isRight, now))
}

async function requireUrl({ db }: ServerContext, organizationId: OrganizationId): Promise<string> {
  const url = await store.findKmsUrl(db, organizationId)
  if (url === undefined) throw errors.kms_unavailable()
  return url
}

async function openAt(
  calling: KmsCallDeps,
  { sealedKey, ...place }: KmsPlace & { sealedKey: string },
  isRight: (key: Buffer) => boolean,
  now: Date,
): Promise<Buffer> {
  const key = await kmsUnwrap(calling, place, sealedKey, now)
  if (!isRight(key)) throw new OutboundError('another_key')
  return key
}

async function available<Result>({ log }: ServerContext, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    log.warn({ reason: error.reason }, 'kms request failed')
    throw errors.kms_unavailable({ headers: { 'retry-after': '30' } })
  }
}

/** Gets the KMS of an organization. Throws the errors of `requireMember`, and `kms_not_found`. */
export async function readKms(kernel: ServerContext, asking: MemberContext, now: Date): Promise<Kms> {
  await requireMember(kernel, asking, 'manage_keys', now)
  const found = await store.findKms(kernel.db, asking.organizationId)
  if (!found) throw errors.kms_not_found()
  return toKms(found)
}

/**
 * Sets the KMS of an organization. The KMS must unwrap both a test key and the organization's existing KMS keys. Throws
 * the errors of `requireMember` and `recordSignedAction`, `reauthentication_required`, `rate_limited`, `invalid_kms`,
 * `kms_cannot_unwrap`, `kms_changed`.
 */
export async function setKms(calling: KmsCallDeps, asking: MemberContext, url: string, now: Date): Promise<Kms> {
  const { kernel } = calling
  const { db, config, outbound } = kernel
  const { organizationId } = asking
  const member = await requireMember(kernel, asking, 'manage_keys', now)
  requireRecentAuthenticationForCall(asking, now)
  const objection = URL.parse(url)?.search ? 'must have no query' : outbound.objectionTo(url)
  if (objection !== undefined) throw errors.invalid_kms({ sentence: `The KMS url ${objection}.` })
  await countChange(kernel, { asking, acting: member }, 'kms-changes-per-organization')
  await unhurried(kernel, errors.invalid_kms, () => tryOut(calling, { url, organizationId }))
  const kept = await store.listKeysOfKms(db, organizationId)
  await unhurried(kernel, errors.kms_cannot_unwrap, () => openAll(calling, url, kept))
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    const present = await store.listKeysOfKms(tx, organizationId)
    if (!present.every((key) => kept.some(({ keyId }) => keyId === key.keyId))) throw errors.kms_changed()
    const from = { url: (await store.findKmsUrl(tx, organizationId)) ?? null }
    await store.upsertKms(tx, { organizationId, url }, now)
    const act = { action: 'organization.kms.updated', details: { url }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return toKms({ url, checkedAt: now })
  })
}

/** Throws `Unreachable` if the KMS does not unwrap what it wrapped, or unwraps it for another key. */
async function tryOut(
  calling: KmsCallDeps,
  { url, organizationId }: { url: string; organizationId: OrganizationId },
): Promise<void> {
  const { clock } = calling.kernel
  const key = randomBytes(organizationKeyBytes)
  const place = { url, organizationId, keyId: randomUUID() }
  const sealedKey = await kmsWrap(calling, place, key, clock())
  if (sealedKey.includes(key.toString('base64'))) throw new OutboundError('not_wrapped')
  await openAt(calling, { ...place, sealedKey }, (opened) => equalBytes(opened, key), clock())
}

type Kept = Awaited<ReturnType<typeof store.listKeysOfKms>>

/** Unwraps all keys, some at once. Each request is signed when it is sent, because a slow KMS may take minutes. */
async function openAll(calling: KmsCallDeps, url: string, kept: Kept): Promise<void> {
  const open = async ({ fingerprint, ...place }: Kept[number]) => {
    const isRight = (key: Buffer) => fingerprintOf(key) === fingerprint
    const opened = await openAt(calling, { ...place, url }, isRight, calling.kernel.clock())
    opened.fill(0)
  }
  for (let count = 0; count < kept.length; count += unwrappedAtOnce)
    await Promise.all(kept.slice(count, count + unwrappedAtOnce).map(open))
}

/** Sends the test requests to an address, and hides the reason of a failure from the member. */
async function unhurried({ log }: ServerContext, refusal: () => Error, work: () => Promise<void>): Promise<void> {
  const begun = performance.now()
  try {
    await work()
  } catch (error) {
    await idle(begun + failureMilliseconds - performance.now())
    if (!(error instanceof OutboundError)) throw error
    log.info({ reason: error.reason }, 'kms validation failed')
    throw refusal()
  }
}

/**
 * Removes the KMS of an organization if no keys depend on it. Throws the errors of `requireMember` and
 * `recordSignedAction`, `reauthentication_required`, `kms_not_found`, `kms_in_use`.
 */
export async function removeKms({ db, config }: ServerContext, asking: MemberContext, now: Date): Promise<void> {
  const { organizationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    requireRecentAuthenticationForAction(asking, now)
    const isRequested = acting.organization.encryptionMode === 'enterprise_managed'
    if (isRequested || (await store.listKeysOfKms(tx, organizationId)).length > 0) throw errors.kms_in_use()
    const url = await store.findKmsUrl(tx, organizationId)
    if (url === undefined || !(await store.deleteKms(tx, organizationId))) throw errors.kms_not_found()
    await recordSignedAction(tx, { asking, acting }, { action: 'organization.kms.removed', from: { url } }, now)
  })
}

/** Checks if an organization has a KMS. */
export async function hasKms(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  return (await store.findKmsUrl(tx, organizationId)) !== undefined
}

function toKms({ url, checkedAt }: store.KmsRow): Kms {
  return { url, checkedAt: checkedAt.toISOString() }
}
