import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import { encode as toBase64Url } from 'jose/base64url'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import { cannotOpen, open } from './jwe.ts'
import { noStorage } from '../browser/storage.ts'

type Kept = { id: string; privateKey: CryptoKey; createdAt: number }

const store = 'ephemeral-keys'
const lifetimeMilliseconds = 3600_000

/**
 * Generates a key for one sign-in. Pass the result to `/signin` as `app_key_jwk`. The app key is then returned
 * encrypted to it, so the URL contains nothing that others could use. The private key stays in the IndexedDB of this
 * browser and is not extractable. It is deleted when `readAppKey` has used it, or after an hour. Throws
 * `storage_unavailable`.
 */
export async function newEphemeralKey(): Promise<string> {
  // Of the two curves, every browser can store keys of this one.
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' }
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, false, ['deriveBits'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  await forgetOld()
  await change((keys) => keys.add({ id: crypto.randomUUID(), privateKey, createdAt: Date.now() } satisfies Kept))
  return toBase64Url(JSON.stringify({ kty, crv, x, y }))
}

/**
 * Decrypts content encrypted to a key of `newEphemeralKey`, and deletes that key. Several sign-ins can be in progress,
 * and one can end in another tab, so each key is tried. Throws `decryption_failed`.
 */
export async function decryptWithEphemeralKey(ciphertext: string): Promise<string> {
  await forgetOld()
  for (const { id, privateKey } of await readKept()) {
    const plaintext = await open(privateKey, ciphertextContext.appKeyFragment(), ciphertext).catch(nothingIfShut)
    if (!plaintext) continue
    await change((keys) => keys.delete(id))
    return new TextDecoder().decode(plaintext)
  }
  throw cannotOpen()
}

function nothingIfShut(error: unknown): undefined {
  if (!(error instanceof CountersignError)) throw error
}

async function forgetOld(): Promise<void> {
  const oldest = Date.now() - lifetimeMilliseconds
  const old = (await readKept()).filter(({ createdAt }) => createdAt < oldest)
  await change((keys) => old.forEach(({ id }) => keys.delete(id)))
}

async function readKept(): Promise<Kept[]> {
  let request: IDBRequest<unknown[]> | undefined
  await change((keys) => (request = keys.getAll()))
  return request?.result.filter(isKept) ?? []
}

function isKept(value: unknown): value is Kept {
  return isRecord(value) && value['privateKey'] instanceof CryptoKey
}

/** Runs one transaction on the stored keys; resolves when it is complete. */
async function change(act: (keys: IDBObjectStore) => void): Promise<void> {
  const database = await openDatabase()
  try {
    await new Promise<void>((resolve, reject) => {
      const transaction = database.transaction(store, 'readwrite')
      transaction.addEventListener('complete', () => resolve())
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('No key could be stored')))
      act(transaction.objectStore(store))
    })
  } finally {
    database.close()
  }
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('countersign', 1)
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(store, { keyPath: 'id' }))
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('This browser stores no keys')))
  }).catch((error: unknown) => {
    throw noStorage(error)
  })
}
