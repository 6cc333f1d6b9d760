import { createPrivateKey, randomUUID, type KeyObject } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { secondsAfter } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { refusals } from '#platform/refusal.ts'
import { actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import { requireConnection, type AskingForOne } from './connection.ts'
import { tellConnection } from './connection-view.ts'
import * as store from './encryption-key-store.ts'

const refuse = refusals({
  invalid_request: [400, 'Only what a SAML provider answers can be encrypted.'],
  encryption_key_not_found: [404, 'This connection has no encryption key.'],
  too_many_encryption_keys: [409, 'Former keys of this connection open answers still. Wait until one has ended.'],
})

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const modulusBits = 3072
const publicExponent = new Uint8Array([1, 0, 1])
/** Nobody renews it by itself, and who may rely on it is said by whoever gave it to the provider. */
const certificateSeconds = 10 * 365 * 24 * 3600
/** A clock that is behind ours takes it at once all the same. */
const earlierSeconds = 3600

/**
 * Makes the key to which the SAML provider of a connection is to encrypt, and publishes it in our metadata; one before
 * it opens for as long as providers may take to notice. Refuses as `requireMember` and `recordAct` do, and
 * `reauthentication_required`, `connection_not_found`, `invalid_request`, `too_many_encryption_keys`, `rate_limited`.
 */
export async function createEncryptionKey(kernel: Kernel, asking: AskingForOne, now: Date): Promise<SsoConnection> {
  const { db, keyring, rateLimits } = kernel
  const { organizationId, connectionId } = asking
  await requireMember(kernel, asking, 'manage_sso', now)
  requireFreshToAct(asking, now)
  const { settings } = await requireConnection(db, asking)
  if (settings.protocol !== 'saml') throw refuse.invalid_request()
  await rateLimits.count('sso connection of an organization', organizationId)
  const made = await makeKey(keyring, connectionId, now)
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireFreshToAct(asking, now)
    await requireConnection(tx, asking)
    const { length } = await store.listOpening(tx, connectionId, now)
    if (length >= limits.samlEncryptionKeysMax) throw refuse.too_many_encryption_keys()
    await store.setFormer(tx, connectionId, secondsAfter(now, limits.samlFormerKeySeconds))
    await store.insertKey(tx, made, now)
    const act = { action: 'sso.encryption_key_created', details: { connectionId } } as const
    await recordAct(tx, { asking, acting }, act, now)
    return tellConnection(kernel, await requireConnection(tx, asking), acting.organization)
  })
}

/**
 * Takes the key out of our metadata; it opens for as long as a replaced one. Refuses as `requireMember` and `recordAct`
 * do, and `reauthentication_required`, `connection_not_found`, `encryption_key_not_found`.
 */
export async function removeEncryptionKey(kernel: Kernel, asking: AskingForOne, now: Date): Promise<void> {
  const { connectionId } = asking
  await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireFreshToAct(asking, now)
    await requireConnection(tx, asking)
    const endsAt = secondsAfter(now, limits.samlFormerKeySeconds)
    if (!(await store.setFormer(tx, connectionId, endsAt))) throw refuse.encryption_key_not_found()
    const act = { action: 'sso.encryption_key_removed', details: { connectionId } } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}

/** The private keys that open what a provider has encrypted for a connection, the newest first. */
export async function openEncryptionKeys(
  { db, keyring }: Pick<Kernel, 'db' | 'keyring'>,
  connectionId: string,
  now: Date,
): Promise<KeyObject[]> {
  const found = await store.listOpening(db, connectionId, now)
  return Promise.all(
    found.map(async ({ keyId, sealedKey }) => {
      const key = Buffer.from(await keyring.open(sealOf(keyId), sealedKey), 'base64')
      return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    }),
  )
}

/** Seals anew what another root than the first has sealed, so that the operator can let that one go. */
export async function resealEncryptionKeys({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { keyId, sealedKey } of await store.listSealedKeys(db)) {
    const sealed = await keyring.renew(sealOf(keyId), sealedKey)
    if (sealed !== sealedKey) await store.replaceSealedKey(db, keyId, sealedKey, sealed)
  }
}

/** Deletes up to `batch` former keys that open nothing any more, and says how many. */
export function pruneEncryptionKeys(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedKeys(db, now, batch)
}

/** A key pair with a certificate that it signs itself: providers take keys in no other form. */
async function makeKey(keyring: Keyring, connectionId: string, now: Date) {
  await import('reflect-metadata')
  const { KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } = await import('@peculiar/x509')
  const { subtle } = globalThis.crypto
  const wanted = { ...algorithm, modulusLength: modulusBits, publicExponent }
  const keys = await subtle.generateKey(wanted, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    name: [{ O: ['Countersign'] }, { CN: [connectionId] }],
    notBefore: secondsAfter(now, -earlierSeconds),
    notAfter: secondsAfter(now, certificateSeconds),
    signingAlgorithm: algorithm,
    // Some providers want both before they encrypt to it.
    extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment)],
  })
  const keyId = randomUUID()
  const privateKey = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  const sealedKey = await keyring.seal(sealOf(keyId), privateKey)
  return { connectionId, keyId, certificate: certificate.toString('pem'), sealedKey }
}

const sealOf = (keyId: string) => `sso encryption key ${keyId}`
