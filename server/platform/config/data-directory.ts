import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { Secret } from '#platform/crypto/secret.ts'

/** Loads a secret from the data directory. Creates it at the first start, readable by its owner only. */
export async function loadOrGenerateSecret(directory: string, name: string): Promise<Secret> {
  const path = join(directory, name)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    flushFile(path)
    flushDirectory(directory)
  } catch (error) {
    const made = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    if (!made) throw new ConfigError(`DATA_DIR cannot be used: ${path} is not writable (${String(error)}).`)
  }
  return loadStoredSecret(directory, name)
}

/** Loads a secret that must exist already; a lost one is not replaced. Throws `ConfigError`. */
export async function loadStoredSecret(directory: string, name: string): Promise<Secret> {
  const path = join(directory, name)
  const text = (await readText(path)).trim()
  if (text.length < 32) throw new ConfigError(`DATA_DIR contains a damaged ${name}. Restore ${path}.`)
  return new Secret(text)
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(
      `DATA_DIR does not contain ${path}. Restore it: the database cannot be used without it (${String(error)}).`,
    )
  }
}

/** False under Node's permission model, which forbids `fsync`. There, only writes to files opened so reach the disk. */
export const canFlush = process.permission === undefined

/** Flushes a file. Under the permission model, it writes the content again. */
export function flushFile(path: string): void {
  if (canFlush) flush(path, 'r+')
  else writeFileSync(path, readFileSync(path), { flag: 'rs+' })
}

/**
 * Flushes which files a directory contains; on Windows, the file system does so itself. Under the permission model, it
 * writes a new file there: for that, a journal is written up to then.
 */
export function flushDirectory(directory: string): void {
  if (process.platform === 'win32') return
  if (canFlush) return flush(directory, 'r')
  const path = join(directory, '.flush')
  writeFileSync(path, '\n', { flag: 'as', mode: 0o600 })
  rmSync(path, { force: true })
}

function flush(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
