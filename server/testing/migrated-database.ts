import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { access, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedDatabase } from '#platform/database/embedded.ts'
import { migrate } from '#platform/database/migrate.ts'
import manifest from '#package.json' with { type: 'json' }

const server = join(import.meta.dirname, '..')
const cache = join(server, '../node_modules/.cache/databases')

/**
 * Copies a migrated embedded database into a directory. The original is kept until the migrations change: running them
 * again would take every test file longer than most of its tests.
 */
export async function copyMigrated(directory: string): Promise<void> {
  const kept = join(cache, fingerprintOf(globSync('migrations/*.sql', { cwd: server })))
  if (!(await exists(kept))) await keepMigrated(kept)
  await cp(join(kept, 'database'), join(directory, 'database'), { recursive: true })
}

/** Creates a data directory with a migrated database. */
export async function makeMigratedDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  await copyMigrated(directory)
  return directory
}

/** If several processes create it concurrently, one wins and the work of the others is discarded. */
async function keepMigrated(kept: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const made = await mkdtemp(`${kept}.`)
  const { pool, close } = await openEmbeddedDatabase(made, failing)
  await migrate(pool)
  await close()
  await rename(made, kept).catch(async (error: unknown) => {
    if (!(await exists(kept))) throw error
    await rm(made, { recursive: true })
  })
}

function fingerprintOf(migrations: string[]): string {
  const hash = createHash('sha256').update(manifest.dependencies['@electric-sql/pglite'])
  for (const name of migrations.toSorted()) hash.update(name).update(readFileSync(join(server, name)))
  return hash.digest('hex').slice(0, 16)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Lets a test fail if its embedded database does. */
export const failing = { onPanic: fail, onUpkeepError: fail }

function fail(problem: Error | string): never {
  throw typeof problem === 'string' ? new Error(problem) : problem
}
