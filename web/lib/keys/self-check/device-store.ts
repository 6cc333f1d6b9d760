import { DecryptionError } from '@countersign/keys/envelope'
import type { MasterKey } from '@countersign/keys/master-key'
import type { DeviceMemory } from '@countersign/protocol/formats/self-record/answers'
import { isObject } from '@countersign/protocol/formats/json'
import { isCount, isHead, isKnownLog } from '@countersign/protocol/formats/self-record/record'
import { useDeviceStore } from '../../device-database.ts'

/** What this browser remembers of its users, sealed under their master keys. */
const memories = 'memory'

/** Reads what this device remembers of a user; undefined if there is nothing that opens under their master key. */
export async function readMemory(masterKey: MasterKey, userId: string): Promise<DeviceMemory | undefined> {
  const sealed = await useDeviceStore(memories, 'readonly', (store) => store.get(userId))
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

/** Returns whether this device remembers keys of a user, under whatever master key. */
export async function remembersKeys(userId: string): Promise<boolean> {
  return (await useDeviceStore(memories, 'readonly', (store) => store.get(userId))) !== undefined
}

export async function writeMemory(masterKey: MasterKey, userId: string, memory: DeviceMemory): Promise<void> {
  const sealed = await masterKey.sealSelfRecord(userId, 'device', JSON.stringify(memory))
  await useDeviceStore(memories, 'readwrite', (store) => store.put(sealed, userId))
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
