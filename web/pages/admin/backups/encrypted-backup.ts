import { NetworkError } from '../../../lib/api/call.ts'

/** Encrypts a backup as it arrives, as a file in the age format. Throws `NetworkError` if it breaks off. */
export async function encryptBackup(backup: ReadableStream<Uint8Array>, passphrase: string): Promise<Blob> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  const encrypted = await encrypter.encrypt(backup)
  return new Response(encrypted).blob().catch((error: unknown) => {
    throw new NetworkError('The backup broke off', { cause: error })
  })
}
