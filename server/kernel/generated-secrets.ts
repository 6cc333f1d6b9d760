import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import { randomBytes } from './random.ts'
import { Secret } from './secret.ts'

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
  const text = (await readFile(path, 'utf8')).trim()
  if (text.length < 32) throw new ConfigError(`DATA_DIR holds a damaged ${name}: restore ${path}.`)
  return new Secret(text)
}
