import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { TrustStore } from './trust-store.ts'

/** Characters of an identity's name that choose its folder, so that no folder becomes large. */
const shardCharacters = 3

type Place = { folder: string; name: string }
type Version = { number: number; value: string }

/**
 * Creates a store in a folder, for any number of processes on one machine. It needs a file system with hard links.
 *
 * Each value is a file of its own, `<name>.<number>`, which is written completely before it gets this name. The next
 * value takes the next number by a hard link, which fails if another process was first. So there are no locks that a
 * crash would leave behind.
 */
export function createFileTrustStore(folder: string): TrustStore {
  return {
    isDurable: true,
    read: async (key) => (await readLatest(placeOf(folder, key)))?.value,
    async advance(key, expected, next) {
      const place = placeOf(folder, key)
      const latest = await readLatest(place)
      if (latest?.value !== expected) return false
      return writeVersion(place, (latest?.number ?? 0) + 1, next)
    },
  }
}

function placeOf(root: string, key: string): Place {
  const [kind = '', name = kind] = key.split('/')
  return { folder: name === kind ? root : join(root, kind, name.slice(0, shardCharacters)), name }
}

async function readLatest(place: Place): Promise<Version | undefined> {
  for (;;) {
    const number = (await listNumbers(place)).at(-1)
    if (number === undefined) return undefined
    try {
      return { number, value: await readFile(fileOf(place, number), 'utf8') }
    } catch (error) {
      // Another process has stored a newer value and removed this file.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

/** Stores a value under a number; returns false if the number is taken or was. */
async function writeVersion(place: Place, number: number, value: string): Promise<boolean> {
  await mkdir(place.folder, { recursive: true })
  const draft = join(place.folder, `.${randomUUID()}`)
  try {
    await writeDurably(draft, value)
    if (!(await linkOnce(draft, fileOf(place, number)))) return false
  } finally {
    await removeIfPresent(draft)
  }
  const numbers = await listNumbers(place)
  // A process that was slow may find its number free again: then a greater one exists, and its own does not count.
  const isLatest = numbers.at(-1) === number
  await syncFolder(place.folder)
  // The value before remains, so that a process that lists the folder during the change finds one of both.
  const outdated = isLatest ? numbers.slice(0, -2) : [number]
  await Promise.all(outdated.map((each) => removeIfPresent(fileOf(place, each))))
  return isLatest
}

async function writeDurably(file: string, value: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(value)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function linkOnce(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Makes the names in a folder durable, which Windows does by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeIfPresent(file: string): Promise<void> {
  try {
    await unlink(file)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Lists the numbers of a value's files, in their order. */
async function listNumbers({ folder, name }: Place): Promise<number[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  const endings = names.flatMap((each) => (each.startsWith(`${name}.`) ? each.slice(name.length + 1) : []))
  const numbers = endings.filter((ending) => /^[1-9]\d{0,14}$/.test(ending)).map(Number)
  return numbers.toSorted((one, other) => one - other)
}

function fileOf({ folder, name }: Place, number: number): string {
  return join(folder, `${name}.${number}`)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
