import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { Secret } from '#platform/crypto/secret.ts'

/** A secret kept in the data directory under `name`; made at the first start, readable by its owner alone. */
export async function generatedSecret(directory: string, name: string): Promise<Secret> {
  const path = join(directory, name)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const made = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    if (!made) throw new ConfigError(`DATA_DIR cannot be used: ${path} cannot be written (${String(error)}).`)
  }
  return keptSecret(directory, name)
}

/** The same where it must have been made before: one that is lost is not replaced. Throws `ConfigError`. */
export async function keptSecret(directory: string, name: string): Promise<Secret> {
  const path = join(directory, name)
  const text = (await readText(path)).trim()
  if (text.length < 32) throw new ConfigError(`DATA_DIR holds a damaged ${name}: restore ${path}.`)
  return new Secret(text)
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(
      `DATA_DIR has lost ${path}: restore it, the database is of no use without it (${String(error)}).`,
    )
  }
}
