import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { askBusiness } from './organization.ts'
import type { World } from './world.ts'

export type KeyHolder = Awaited<ReturnType<typeof createKeyHolder>>

/** A person whose identity has an encryption key, as a browser gives it one, and who opens what is wrapped to that. */
export async function createKeyHolder(world: World, curve: 'X25519' | 'P-256' = 'X25519') {
  const person = await world.person()
  const pair = newPair(curve)
  const created = await world.api.inject({
    method: 'POST',
    url: `/api/encryption/keys/${person.identityId}`,
    headers: person.headers,
    payload: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
  })
  if (created.statusCode !== 201) throw new Error(`no encryption key: ${created.body}`)
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

/** A key as a member makes it in their browser for an organization. */
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

/** Sets the mode of an organization, as its owner. */
export async function setMode(world: World, owner: KeyHolder, id: string, encryptionMode: string): Promise<void> {
  const changed = await askBusiness(world, owner, `PATCH /organizations/${id}`, { encryptionMode })
  if (changed.statusCode !== 200) throw new Error(`not ${encryptionMode}: ${changed.body}`)
}
