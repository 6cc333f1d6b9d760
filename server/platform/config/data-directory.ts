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
