import { createHmac, hkdfSync } from 'node:crypto'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { type Secret, sha256 } from './secret.ts'
import { ConfigError } from '#platform/config-error.ts'

/** Encrypts secrets that the service must be able to decrypt, such as token-signing keys, for the database. */
export type Keyring = {
  seal: (context: string, plaintext: string) => Promise<string>
  /** Decrypts a sealed text. Throws if the context differs, and `ConfigError` if no root key decrypts it. */
  open: (context: string, sealed: string) => Promise<string>
  /**
   * Re-encrypts a sealed text under the current root key. Returns the same text if it already is. Throws like `open`.
   */
  renew: (context: string, sealed: string) => Promise<string>
  /** Beginning of the texts that are sealed under the current root key, and of no others. */
  sealedBeginning: string
  /**
   * Computes a MAC of a secret that is short enough to be guessed, for the database. Without the root key, guesses
   * cannot be tested. It uses the current root key only, for values that live for minutes.
   */
  mac: (context: string, secret: string) => Buffer
  /** Derives keys for one purpose, one from each root key: the first for new values, all for existing ones. */
  derive: (purpose: string) => [Buffer, ...Buffer[]]
}

const header = { alg: 'dir', enc: 'A256GCM' }

const lost =
  'SECRET_KEY is not the key of this database. Restore the key that it was used with, ' +
  'or add that key to the list after a comma.'

/**
 * Creates a keyring from root keys, of which the first encrypts and all decrypt. Sealed texts are compact JWEs (`dir`,
 * `A256GCM`). `ctx` names their context, so that a sealed text cannot be decrypted in another place.
 */
export function createKeyring(roots: Secret[]): Keyring {
  const keys = roots.map((root) => {
    const key = deriveKey(root, 'countersign/at-rest/v1')
    return { key, kid: sha256(key).toString('base64url').slice(0, 11) }
  })
  const [first] = keys
  const [firstRoot, ...otherRoots] = roots
  if (!first || !firstRoot) throw new Error('a keyring needs at least one root key')
  const macKey = deriveKey(firstRoot, 'countersign/mac/v1')

  // The header begins with the key ID, and base64url turns three bytes into four characters.
  const beginning = Buffer.from(JSON.stringify({ ...header, kid: first.kid })).subarray(0, -1)
  const sealedBeginning = beginning.subarray(0, beginning.length - (beginning.length % 3)).toString('base64url')

  const seal = (context: string, plaintext: string) =>
    new CompactEncrypt(Buffer.from(plaintext, 'utf8'))
      .setProtectedHeader({ ...header, kid: first.kid, ctx: context })
      .encrypt(first.key)
  const open = async (context: string, sealed: string) => {
    const { plaintext, protectedHeader } = await compactDecrypt(
      sealed,
      ({ kid }) => {
        const root = keys.find((candidate) => candidate.kid === kid)
        if (!root) throw new ConfigError(lost)
        return root.key
      },
      { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
    )
    if (protectedHeader['ctx'] !== context) throw new Error(`sealed text has another context than ${context}`)
    return Buffer.from(plaintext).toString('utf8')
  }

  return {
    seal,
    open,
    renew: async (context, sealed) =>
      decodeProtectedHeader(sealed).kid === first.kid ? sealed : seal(context, await open(context, sealed)),
    mac: (context, secret) =>
      createHmac('sha256', macKey)
        .update(JSON.stringify([context, secret]))
        .digest(),
    sealedBeginning,
    derive: (purpose) => [deriveKey(firstRoot, purpose), ...otherRoots.map((root) => deriveKey(root, purpose))],
  }
}

function deriveKey(root: Secret, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root.reveal(), '', purpose, 32))
}
