import { createPrivateKey, randomUUID, type KeyObject } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { addSeconds } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'
import { countChange } from '#organizations/acts/start-limit.ts'
import { requireConnection, type AskingForOne } from './connection.ts'
import { toSsoConnection } from './connection-view.ts'
import * as store from './encryption-key-store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Only SAML connections support assertion encryption.'],
  encryption_key_not_found: [404, 'This connection has no encryption key.'],
  too_many_encryption_keys: [409, 'Too many previous encryption keys are still valid. Wait until one expires.'],
})

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const modulusBits = 3072
const publicExponent = new Uint8Array([1, 0, 1])
/**
 * Validity of the certificate. Nothing renews it automatically, and providers trust the key because an admin registered
 * it.
 */
const certificateSeconds = 10 * 365 * 24 * 3600
/** Backdates the certificate, so that providers with a slow clock accept it at once. */
const earlierSeconds = 3600

/**
 * Creates and publishes the key to which the SAML provider encrypts assertions. A previous key stays valid for the time
 * that providers can need to notice. Throws the errors of `requireMember` and `recordSignedAction`, and
 * `reauthentication_required`, `connection_not_found`, `invalid_request`, `too_many_encryption_keys`, `rate_limited`.
 */
export async function createEncryptionKey(
  kernel: ServerContext,
  asking: AskingForOne,
  now: Date,
): Promise<SsoConnection> {
  const { db, keyring } = kernel
  const { connectionId } = asking
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  requireRecentAuthenticationForAction(asking, now)
  const { settings } = await requireConnection(db, asking)
  if (settings.protocol !== 'saml') throw errors.invalid_request()
  await countChange(kernel, { asking, acting: member }, 'sso-connection-changes-per-organization')
  const made = await makeKey(keyring, connectionId, now)
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireRecentAuthenticationForAction(asking, now)
    await requireConnection(tx, asking)
    const { length } = await store.listDecryptionKeys(tx, connectionId, now)
    if (length >= limits.samlEncryptionKeysMax) throw errors.too_many_encryption_keys()
    const from = { certificate: (await store.findCertificate(tx, connectionId)) ?? null }
    await store.retireEncryptionKey(tx, connectionId, addSeconds(now, limits.samlFormerKeySeconds))
    await store.insertKey(tx, made, now)
    const act = { action: 'sso.encryption_key.created', details: { connectionId }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return toSsoConnection(kernel, await requireConnection(tx, asking), acting.organization)
  })
}

/**
 * Removes the key from the service provider metadata. It stays valid as long as a replaced key. Throws the errors of
 * `requireMember` and `recordSignedAction`, and `reauthentication_required`, `connection_not_found`,
 * `encryption_key_not_found`.
 */
export async function removeEncryptionKey(kernel: ServerContext, asking: AskingForOne, now: Date): Promise<void> {
  const { connectionId } = asking
  await actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    requireRecentAuthenticationForAction(asking, now)
    await requireConnection(tx, asking)
    const expiresAt = addSeconds(now, limits.samlFormerKeySeconds)
    const from = { certificate: (await store.findCertificate(tx, connectionId)) ?? null }
    if (!(await store.retireEncryptionKey(tx, connectionId, expiresAt))) throw errors.encryption_key_not_found()
    const act = { action: 'sso.encryption_key.removed', details: { connectionId }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

/** Finds the certificate (PEM) of the published key of a connection. Returns undefined if none is published. */
export function findCertificate(db: Database, connectionId: string): Promise<string | undefined> {
  return store.findCertificate(db, connectionId)
}

/** Lists the private keys that decrypt assertions for a connection, newest first. */
export async function loadDecryptionKeys(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  connectionId: string,
  now: Date,
): Promise<KeyObject[]> {
  const found = await store.listDecryptionKeys(db, connectionId, now)
  return Promise.all(
    found.map(async ({ keyId, sealedKey }) => {
      const key = Buffer.from(await keyring.open(sealOf(keyId), sealedKey), 'base64')
      return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    }),
  )
}

/** Re-encrypts keys that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptEncryptionKeys({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { keyId, sealedKey } of await store.listSealedKeys(db, keyring)) {
    const sealed = await keyring.renew(sealOf(keyId), sealedKey)
    if (sealed !== sealedKey) await store.replaceSealedKey(db, keyId, sealedKey, sealed)
  }
}

/** Deletes up to `batch` expired keys, and returns the number. */
export function pruneEncryptionKeys(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedKeys(db, now, batch)
}

/** Generates a key pair with a self-signed certificate, because providers accept keys only as certificates. */
async function makeKey(keyring: Keyring, connectionId: string, now: Date) {
  await import('reflect-metadata')
  const { KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } = await import('@peculiar/x509')
  const { subtle } = globalThis.crypto
  const requested = { ...algorithm, modulusLength: modulusBits, publicExponent }
  const keys = await subtle.generateKey(requested, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    name: [{ O: ['Countersign'] }, { CN: [connectionId] }],
    notBefore: addSeconds(now, -earlierSeconds),
    notAfter: addSeconds(now, certificateSeconds),
    signingAlgorithm: algorithm,
    // Some providers require both key usages before they encrypt to it.
    extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment)],
  })
  const keyId = randomUUID()
  const privateKey = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  const sealedKey = await keyring.seal(sealOf(keyId), privateKey)
  return { connectionId, keyId, certificate: certificate.toString('pem'), sealedKey }
}

const sealOf = (keyId: string) => `sso encryption key ${keyId}`
