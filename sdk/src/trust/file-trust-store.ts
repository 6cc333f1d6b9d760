import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
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

/**
 * Stores a value under a number; returns false if the number is taken or was.
 *
 * Numbers become free again when outdated values are removed, so that a slow process could take one for the second
 * time. Its draft prevents that: a draft that existed when values were removed was removed with them, and a draft that
 * was created later is followed by a look at the newest number.
 */
async function writeVersion(place: Place, number: number, value: string): Promise<boolean> {
  await makeFolderDurably(place.folder)
  const draft = `${draftPrefix(place)}${number}.${randomUUID()}`
  const draftFile = join(place.folder, draft)
  try {
    await writeDurably(draftFile, value)
    const newest = (await listNumbers(place)).at(-1) ?? 0
    if (newest >= number || !(await linkOnce(draftFile, fileOf(place, number)))) return false
  } finally {
    await removeIfPresent(draftFile)
  }
  await syncFolder(place.folder)
  await removeOutdated(place)
  return true
}

/** Removes drafts that can no longer be stored, then all values but the newest two. */
async function removeOutdated(place: Place): Promise<void> {
  const names = await listNames(place.folder)
  const numbers = numbersAmong(names, place)
  const newest = numbers.at(-1) ?? 0
  const prefix = draftPrefix(place)
  const drafts = names.filter(
    (name) => name.startsWith(prefix) && Number(name.slice(prefix.length).split('.')[0]) <= newest,
  )
  await Promise.all(drafts.map((name) => removeIfPresent(join(place.folder, name))))
  // The value before remains, so that a process that lists the folder during the change finds one of both.
  await Promise.all(numbers.slice(0, -2).map((number) => removeIfPresent(fileOf(place, number))))
}

/** Creates a folder with its parents, whose names are then durable too. */
async function makeFolderDurably(folder: string): Promise<void> {
  const path = resolve(folder)
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
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

/** Gives a draft its name; returns false if the name is taken, or the draft was removed as outdated. */
async function linkOnce(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false
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
async function listNumbers(place: Place): Promise<number[]> {
  return numbersAmong(await listNames(place.folder), place)
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
}

function numbersAmong(names: readonly string[], { name }: Place): number[] {
  const endings = names.flatMap((each) => (each.startsWith(`${name}.`) ? each.slice(name.length + 1) : []))
  const numbers = endings.filter((ending) => /^[1-9]\d{0,14}$/.test(ending)).map(Number)
  return numbers.toSorted((one, other) => one - other)
}

function draftPrefix({ name }: Place): string {
  return `.${name}.`
}

function fileOf({ folder, name }: Place, number: number): string {
  return join(folder, `${name}.${number}`)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
