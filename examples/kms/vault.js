import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The key under which all others are wrapped, in a file. A real KMS has it in hardware, and never lets it out. */
export function openVault(file) {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' })
  const key = readFileSync(file)
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes`)

  return {
    wrap(plaintext, context) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bytesOf(context))
      const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()])
      return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
    },

    /** Throws where it was wrapped by another key, or for another place. */
    unwrap(ciphertext, context) {
      const bytes = Buffer.from(ciphertext, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(bytesOf(context))
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    },
  }
}

/** A wrapped key opens for the key and the organization that it was wrapped for. */
function bytesOf({ organizationId, keyId }) {
  return Buffer.from(JSON.stringify([organizationId, keyId]))
}
