import {
  CountersignError,
  decryptAppKey,
  decryptText,
  encrypt,
  newEphemeralKey,
} from '../../../../sdk/src/encryption/encryption.ts'

export { newEphemeralKey }

/** The note's place in the app: its ciphertext can be decrypted in no other one. */
const context = 'note:1'

/** Decrypts an app key that was encrypted to this browser, once. Returns undefined for anything else. */
export async function openKey(sealedKey: string): Promise<CryptoKey | undefined> {
  const appKey = await orUndefined(decryptAppKey(sealedKey))
  return appKey?.mode === 'symmetric' ? appKey.key : undefined
}

export function encryptNote(key: CryptoKey, note: string): Promise<string> {
  return encrypt(key, note, { context })
}

/** Decrypts a note. Returns undefined if it was encrypted with another key, or altered. */
export function decryptNote(key: CryptoKey, ciphertext: string): Promise<string | undefined> {
  return orUndefined(decryptText(key, ciphertext, { context }))
}

/** A failed decryption is a result to show. Other errors are faults of the page or its browser. */
async function orUndefined<Result>(decryption: Promise<Result>): Promise<Result | undefined> {
  try {
    return await decryption
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'decryption_failed') return undefined
    throw error
  }
}
