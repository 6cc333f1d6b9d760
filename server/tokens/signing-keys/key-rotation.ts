import { generateKeyPair, randomUUID, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Algorithm } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { record, type Audited } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import * as store from './store.ts'
import type { NewKey } from './store.ts'

/** What a set of keys signs by, a key for each. */
export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const satisfies Algorithm[]

type Vault = Pick<Kernel, 'db' | 'keyring'>

const refuse = refusals({
  rotation_under_way: [409, 'New keys are published already, and sign no later than these would.'],
})

const newKeyPair = promisify(generateKeyPair)

/** Whether keys were ever made in this database. */
export async function hasKeys(db: Vault['db']): Promise<boolean> {
  return (await store.findNewestSet(db)) !== undefined
}

/** Makes the first set where there is none. Processes that start together each offer one; the first is everyone's. */
export async function makeFirstKeys({ db, keyring }: Vault, now: Date): Promise<void> {
  if (await store.findNewestSet(db)) return
  await store.insertKeySet(db, await newKeySet(keyring, 1, now, now))
}

/**
 * Makes the set of keys that follows, and publishes it: long enough before it signs that whoever keeps the key set for
 * as long as it may has the new one too. With `atOnce` it signs as soon as every process of ours knows it, and a
 * relying party must read the key set anew when it meets it. Refuses `rotation_under_way`.
 */
export async function rotateKeys(vault: Vault, { atOnce }: { atOnce: boolean }, now: Date): Promise<void> {
  const lead = atOnce ? limits.signingKeyEmergencyLeadSeconds : limits.signingKeyLeadSeconds
  const signsAt = secondsAfter(now, lead)
  const newest = await store.findNewestSet(vault.db)
  if (newest && newest.signsAt > now && newest.signsAt <= signsAt) throw refuse.rotation_under_way()
  if (!(await publishKeySet(vault, newest?.version ?? 0, 'operator', { now, signsAt })))
    throw refuse.rotation_under_way()
}

/** Publishes the set that follows in time for keys to sign no longer than they should, once among all processes. */
export async function rotateKeysWhenDue(vault: Vault, now: Date): Promise<void> {
  const signsAt = secondsAfter(now, limits.signingKeyScheduledLeadSeconds)
  const newest = await store.findNewestSet(vault.db)
  if (!newest || secondsAfter(newest.signsAt, limits.signingKeyPeriodSeconds) > signsAt) return
  await publishKeySet(vault, newest.version, 'system', { now, signsAt })
}

/** Ends what has served: the private halves of keys that are published no more, and later the public ones. */
export async function pruneKeys(db: Vault['db'], now: Date): Promise<number> {
  const published = await store.versionSigningAt(db, secondsAfter(now, -limits.signingKeyPublishedAfterSeconds))
  const known = await store.versionSigningAt(db, secondsAfter(now, -limits.signingKeyRememberedSeconds))
  return (await store.forgetPrivateHalves(db, published)) + (await store.deleteKeySets(db, known))
}

type Times = { now: Date; signsAt: Date }

/** Publishes the set after `version`; false where another process was first. */
async function publishKeySet(
  { db, keyring }: Vault,
  version: number,
  actor: Audited['actor'],
  { now, signsAt }: Times,
): Promise<boolean> {
  const keys = await newKeySet(keyring, version + 1, now, signsAt)
  return transaction(db, async (tx) => {
    if (!(await store.insertKeySet(tx, keys))) return false
    const details = { signsAt: signsAt.toISOString(), keys: keys.map(({ kid }) => kid) }
    await record(tx, { action: 'keys.rotated', actor, details }, now)
    return true
  })
}

function newKeySet(keyring: Kernel['keyring'], version: number, createdAt: Date, signsAt: Date): Promise<NewKey[]> {
  return Promise.all(
    algorithms.map(async (algorithm) => {
      const kid = randomUUID()
      const { publicKey, privateKey } = await generate(algorithm)
      const publicJwk = JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: algorithm })
      const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' })
      const sealedPrivateKey = await keyring.seal(sealOf(kid), privatePem)
      return { algorithm, version, kid, publicJwk, sealedPrivateKey, createdAt, signsAt }
    }),
  )
}

/** What a sealed private key is sealed as. */
export function sealOf(kid: string): string {
  return `token-signing-key:${kid}`
}

/** In another thread: an RSA key takes long enough that requests would wait for it. */
function generate(algorithm: Algorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  switch (algorithm) {
    case 'RS256':
      return newKeyPair('rsa', { modulusLength: 2048 })
    case 'ES256':
      return newKeyPair('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return newKeyPair('ed25519')
  }
}
