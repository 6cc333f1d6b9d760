import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { algorithms } from '@countersign/protocol/formats/registries/algorithms'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { generateSigningKeyPair } from './algorithms.ts'
import * as store from './store.ts'
import type { KeyRow, NewKey } from './store.ts'
import type { SigningKeyState } from '@countersign/protocol/oauth/token-keys'

type Vault = Pick<ServerContext, 'db' | 'keyring'>

const errors = defineErrors({
  rotation_in_progress: [409, 'A rotation is already in progress.'],
})

/** Checks whether this database has ever had token-signing keys. */
export async function hasKeys(db: Vault['db']): Promise<boolean> {
  return (await store.findNewestSet(db)) !== undefined
}

/**
 * Creates the first key set if there is none. When processes start at the same time, each offers one, and all use the
 * first.
 */
export async function createInitialKeys({ db, keyring }: Vault, now: Date): Promise<void> {
  if (await store.findNewestSet(db)) return
  await store.insertKeySet(db, await newKeySet(keyring, 1, now, now))
}

/**
 * Creates and publishes the next key set. It signs only after relying parties that cache the key set for the maximum
 * time have the new one too. With `atOnce` it signs as soon as every process knows it. A relying party must then fetch
 * the key set again when it meets an unknown key. Throws `rotation_in_progress`.
 */
export async function rotateTokenSigningKeys(
  vault: Vault,
  operator: Operator,
  { atOnce }: { atOnce: boolean },
  now: Date,
): Promise<void> {
  const lead = atOnce ? limits.signingKeyEmergencyLeadSeconds : limits.signingKeyLeadSeconds
  const activatesAt = addSeconds(now, lead)
  const newest = await store.findNewestSet(vault.db)
  if (newest && newest.activatesAt > now && newest.activatesAt <= activatesAt) throw errors.rotation_in_progress()
  if (!(await publishKeySet(vault, newest?.version ?? 0, operator, { now, activatesAt })))
    throw errors.rotation_in_progress()
}

/** Publishes the next key set when the keys in use reach their maximum age, once among all processes. */
export async function rotateKeysWhenDue(vault: Vault, now: Date): Promise<void> {
  const activatesAt = addSeconds(now, limits.signingKeyScheduledLeadSeconds)
  const newest = await store.findNewestSet(vault.db)
  if (!newest || addSeconds(newest.activatesAt, limits.signingKeyPeriodSeconds) > activatesAt) return
  await publishKeySet(vault, newest.version, undefined, { now, activatesAt })
}

/** Deletes private keys that are no longer published, and later their public keys. Returns the number of keys. */
export async function pruneKeys(db: Vault['db'], now: Date): Promise<number> {
  const published = await store.versionSigningAt(db, addSeconds(now, -limits.signingKeyPublishedAfterSeconds))
  const known = await store.versionSigningAt(db, addSeconds(now, -limits.signingKeyRememberedSeconds))
  return (await store.deletePrivateKeys(db, published)) + (await store.deleteKeySets(db, known))
}

type Times = { now: Date; activatesAt: Date }

/** Publishes the set after `version`, for an operator or when it is due. Returns false if another process was first. */
async function publishKeySet(
  { db, keyring }: Vault,
  version: number,
  operator: Operator | undefined,
  { now, activatesAt }: Times,
): Promise<boolean> {
  const keys = await newKeySet(keyring, version + 1, now, activatesAt)
  const publish = async (tx: Transaction) => {
    if (!(await store.insertKeySet(tx, keys))) return false
    const details = { activatesAt: activatesAt.toISOString(), keys: keys.map(({ kid }) => kid) }
    const by = operator ? auditFieldsOf(operator) : ({ actor: 'system' } as const)
    await recordAuditEvent(tx, { action: 'token_signing_key.rotated', ...by, details }, now)
    return true
  }
  return operator ? operatorTransaction(db, operator, publish) : transaction(db, publish)
}

/** Generates a key set: one key for each algorithm. */
function newKeySet(
  keyring: ServerContext['keyring'],
  version: number,
  createdAt: Date,
  activatesAt: Date,
): Promise<NewKey[]> {
  return Promise.all(
    algorithms.map(async (algorithm) => {
      const kid = randomUUID()
      const { publicKey, privateKey } = await generateSigningKeyPair(algorithm)
      const publicJwk = JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: algorithm })
      const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' })
      const sealedPrivateKey = await keyring.seal(sealOf(kid), privatePem)
      return { algorithm, version, kid, publicJwk, sealedPrivateKey, createdAt, activatesAt }
    }),
  )
}

/** Returns the context under which a private key is sealed. */
export function sealOf(kid: string): string {
  return `token-signing-key:${kid}`
}

type ScheduledKey = Pick<KeyRow, 'algorithm' | 'version' | 'activatesAt'>

/**
 * Returns the instant until which a key is published, after everything that it signed has expired. Returns null while
 * the key has no successor.
 */
export function publishUntil(key: ScheduledKey, all: ScheduledKey[]): Date | null {
  const end = signsUntil(key, all)
  return end && addSeconds(end, limits.signingKeyPublishedAfterSeconds)
}

/** Returns the state of a key at an instant. */
export function stateOf(key: ScheduledKey, all: ScheduledKey[], now: Date): SigningKeyState {
  const end = signsUntil(key, all)
  if (end && end <= now) return 'retired'
  return key.activatesAt <= now ? 'signing' : 'published'
}

/** Returns the instant at which the first successor of a key begins to sign. */
function signsUntil({ algorithm, version }: ScheduledKey, all: ScheduledKey[]): Date | null {
  const followers = all.filter((other) => other.algorithm === algorithm && other.version > version)
  const [first] = followers
    .map(({ activatesAt }) => activatesAt)
    .toSorted((one, other) => one.getTime() - other.getTime())
  return first ?? null
}
