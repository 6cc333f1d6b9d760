import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../call.ts'
import { CliError } from '../terminal.ts'

type Content = ReadableStream<Uint8Array>
type NewFile = { out: string; what: 'backup' | 'export' }

/** Throws `CliError` if a file that is to be created exists already. */
export function requireNew(out: string): void {
  if (existsSync(out)) throw new CliError(`${out} already exists`)
}

/**
 * Writes a new file. It is opened before the request, so that the server does no work for a file that cannot be
 * created, and it gets its final name only when it is complete.
 */
export async function writeNewFile({ out, what }: NewFile, request: () => Promise<Content>): Promise<void> {
  requireNew(out)
  const unfinished = `${out}.part`
  const file = await create(unfinished, what)
  try {
    await fill(file, await request(), what)
    await rename(unfinished, out)
  } catch (error) {
    await file.close()
    await rm(unfinished, { force: true })
    throw error
  }
}

async function create(path: string, what: NewFile['what']): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    if (isThere) throw new CliError(`${path} exists. If no other ${what} is running, delete it.`, { cause })
    throw new CliError(`${path} cannot be created (${reasonOf(cause)})`, { cause })
  }
}

async function fill(file: FileHandle, content: Content, what: NewFile['what']): Promise<void> {
  try {
    await pipeline(content, file.createWriteStream({ flush: true }))
  } catch (cause) {
    throw new CliError(`The ${what} was interrupted (${reasonOf(cause)})`, { cause })
  }
}
