import { DecryptionError } from '@countersign/keys/envelope'
import type { MasterKey } from '@countersign/keys/master-key'
import type { DeviceMemory } from '@countersign/protocol/formats/self-record/answers'
import { isObject } from '@countersign/protocol/formats/json'
import { isCount, isHead, isKnownLog } from '@countersign/protocol/formats/self-record/record'

/**
 * What this browser remembers of its users, sealed under their master keys, and the evidence of alarms. Browsers that
 * forbid storage remember nothing, and no check depends on it.
 */
const databaseName = 'countersign-keys'
const memories = 'memory'
const alarms = 'evidence'
const alarmsMax = 20

/** Reads what this device remembers of a user; undefined if there is nothing that opens under their master key. */
export async function readMemory(masterKey: MasterKey, userId: string): Promise<DeviceMemory | undefined> {
  const sealed = await use(memories, 'readonly', (store) => store.get(userId))
  if (typeof sealed !== 'string') return undefined
  try {
    const memory: unknown = JSON.parse(await masterKey.openSelfRecord(userId, 'device', sealed))
    return isMemory(memory) ? memory : undefined
  } catch (error) {
    // Another master key, or a damaged store: this device starts again.
    if (error instanceof DecryptionError || error instanceof SyntaxError) return undefined
    throw error
  }
}

export async function writeMemory(masterKey: MasterKey, userId: string, memory: DeviceMemory): Promise<void> {
  const sealed = await masterKey.sealSelfRecord(userId, 'device', JSON.stringify(memory))
  await use(memories, 'readwrite', (store) => store.put(sealed, userId))
}

/** Keeps the evidence of an alarm in this browser, under the instant of the alarm. */
export async function keepEvidence(at: string, evidence: string): Promise<void> {
  const count = await use(alarms, 'readonly', (store) => store.count())
  if (typeof count === 'number' && count >= alarmsMax) await use(alarms, 'readwrite', (store) => store.clear())
  await use(alarms, 'readwrite', (store) => store.put(evidence, at))
}

/** Runs one request on a store; returns undefined if the browser forbids storage. */
async function use(
  name: string,
  mode: IDBTransactionMode,
  request: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  try {
    const database = await open()
    try {
      return await resultOf(request(database.transaction(name, mode).objectStore(name)))
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(databaseName, 1)
  opening.addEventListener('upgradeneeded', () => {
    for (const name of [memories, alarms]) opening.result.createObjectStore(name)
  })
  return resultOf(opening)
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new DOMException('The request failed')))
  })
}

function isMemory(value: unknown): value is DeviceMemory {
  if (!isObject(value) || value['version'] !== 1 || !isCount(value['sequence'])) return false
  const { log, identities, unreachableSince } = value
  if (!(log === null || isKnownLog(log)) || !isObject(identities)) return false
  return isTextOrNull(unreachableSince) && Object.values(identities).every(isRemembered)
}

function isRemembered(value: unknown): boolean {
  if (!isObject(value) || typeof value['handle'] !== 'string' || !isCount(value['leaves'])) return false
  return isHead(value['head'], value['leaves']) && isTextOrNull(value['publicKey'])
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}
