import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { businessRequest } from './organization.ts'
import type { TestWorld } from './world.ts'

export type KeyHolder = Awaited<ReturnType<typeof createKeyHolder>>

/**
 * Creates a user whose identity has an encryption key, like one created by a browser, and who can unwrap keys wrapped
 * to it.
 */
export async function createKeyHolder(world: TestWorld, curve: 'X25519' | 'P-256' = 'X25519') {
  const person = await world.person()
  const pair = newPair(curve)
  const created = await world.api.inject({
    method: 'POST',
    url: `/api/encryption/keys/${person.identityId}`,
    headers: person.headers,
    payload: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
  })
  if (created.statusCode !== 201) throw new Error(`encryption key not created: ${created.body}`)
  return { ...person, publicKey: pair.publicKey, open: pair.open }
}

function newPair(curve: 'X25519' | 'P-256') {
  const options = { publicKeyEncoding: { type: 'spki', format: 'der' } } as const
  const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const
  const { publicKey, privateKey } =
    curve === 'X25519'
      ? generateKeyPairSync('x25519', { ...options, privateKeyEncoding })
      : generateKeyPairSync('ec', { ...options, privateKeyEncoding, namedCurve: 'P-256' })
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })
  return {
    publicKey: publicKey.toString('base64'),
    async open(ciphertext: string) {
      const { plaintext, protectedHeader } = await compactDecrypt(ciphertext, key)
      return { key: Buffer.from(plaintext), header: protectedHeader }
    },
  }
}

type Recipient = { identityId: string; publicKey: string }

/** Creates an organization key like the browser of a member. */
export function newSharedKey(organizationId: string, key = randomBytes(32)) {
  const fingerprint = fingerprintOf(key)
  return {
    key,
    fingerprint,
    wrapTo({ identityId, publicKey }: Recipient, header: Record<string, unknown> = {}, content: Uint8Array = key) {
      const recipient = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
      const ctx = `organization-key:${organizationId}:${fingerprint}:${identityId}`
      return new CompactEncrypt(content)
        .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ctx, ...header })
        .encrypt(recipient)
    },
  }
}

export function fingerprintOf(key: Uint8Array): string {
  const info = 'countersign/organization-key/fingerprint/v1'
  return Buffer.from(hkdfSync('sha256', key, '', info, 32)).toString('base64url')
}

/** Sets the encryption mode of an organization, as its owner. */
export async function setMode(world: TestWorld, owner: KeyHolder, id: string, encryptionMode: string): Promise<void> {
  const changed = await businessRequest(world, owner, `PATCH /organizations/${id}`, { encryptionMode })
  if (changed.statusCode !== 200) throw new Error(`encryption mode ${encryptionMode} not set: ${changed.body}`)
}
