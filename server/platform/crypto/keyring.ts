import { createHmac, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'
import { sha256 } from './digest.ts'
import { ConfigError } from '#platform/config/config.ts'
import type { Secret } from './secret.ts'

/** Encrypts what we must be able to read again (signing keys of our own), for the database. */
export type Keyring = {
  seal: (context: string, plaintext: string) => Promise<string>
  /** Throws where it was sealed for another context, `ConfigError` where no root opens it. */
  open: (context: string, sealed: string) => Promise<string>
  /** The same, sealed by the first root: the text itself where it is so already. Throws as `open` does. */
  renew: (context: string, sealed: string) => Promise<string>
  /**
   * What stands in the database for a secret that is short enough to be guessed: nobody without the root can try the
   * guesses. By the first root alone, for what lives for minutes.
   */
  mac: (context: string, secret: string) => Buffer
  /** Keys for one purpose, one of each root: the first is for what is made now, all are for what was made before. */
  derive: (purpose: string) => [Buffer, ...Buffer[]]
}

const lost =
  'SECRET_KEY is not the one of this database: put back the one that it was used with, ' +
  'or add that one to the list after a comma.'

/**
 * A keyring over roots of which the first encrypts and all decrypt. Compact JWE (`dir`, `A256GCM`); `ctx` says what is
 * inside, so that a sealed text moved to another place does not open there.
 */
export function createKeyring(roots: Secret[]): Keyring {
  const keys = roots.map((root) => {
    const key = deriveKey(root, 'countersign/at-rest/v1')
    return { key, kid: sha256(key).toString('base64url').slice(0, 11) }
  })
  const [first] = keys
  const [firstRoot, ...otherRoots] = roots
  if (!first || !firstRoot) throw new Error('A keyring needs at least one root.')
  const macKey = deriveKey(firstRoot, 'countersign/mac/v1')

  const seal = (context: string, plaintext: string) =>
    new CompactEncrypt(Buffer.from(plaintext, 'utf8'))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: first.kid, ctx: context })
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
    if (protectedHeader['ctx'] !== context) throw new Error(`A sealed text is not of the context ${context}.`)
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
    derive: (purpose) => [deriveKey(firstRoot, purpose), ...otherRoots.map((root) => deriveKey(root, purpose))],
  }
}

function deriveKey(root: Secret, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root.reveal(), '', purpose, 32))
}
