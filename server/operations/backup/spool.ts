import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  invalid_backup: [400, 'The backup was cut off on its way. Nothing was changed.'],
  insufficient_storage: [507, 'DATA_DIR has no room for the backup on its way, or cannot be written.'],
})

const silenceMilliseconds = 30_000
const withoutRoom = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM'])

/**
 * Keeps a backup on its way between the database and the caller's network, so that neither waits for the other: writes
 * what comes into a file in `directory`, and answers how to read it. The file has no name, so it goes with the process,
 * however that ends. Refuses `insufficient_storage`.
 */
export async function spool(directory: string, write: (file: FileHandle) => Promise<void>): Promise<Readable> {
  const file = await openNameless(directory)
  try {
    await write(file)
  } catch (error) {
    await file.close()
    throw hasNoRoom(error) ? refuse.insufficient_storage() : error
  }
  return file.createReadStream({ start: 0 })
}

/** Takes a body in, for as long as it keeps coming. Refuses `invalid_backup` where it stops. */
export function spoolBody(directory: string, body: Readable): Promise<Readable> {
  return spool(directory, (file) => file.writeFile(arriving(body)))
}

/** What comes of a body. One that is not read to its end is left open: its sender is told why. */
async function* arriving(body: Readable): AsyncGenerator<Buffer> {
  const silence = setTimeout(() => body.destroy(new Error('nothing more came')), silenceMilliseconds)
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      silence.refresh()
      yield chunk
    }
  } catch {
    throw refuse.invalid_backup()
  } finally {
    clearTimeout(silence)
  }
}

async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `backup-${randomUUID()}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx+', 0o600)
    await rm(path)
    return file
  } catch (error) {
    throw hasNoRoom(error) ? refuse.insufficient_storage() : error
  }
}

function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && withoutRoom.has(String(error.code))
}
