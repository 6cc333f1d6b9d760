import { existsSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import manifest from '#package.json' with { type: 'json' }

/** An empty database as `initdb` leaves it. Made at installation, for it takes longer than the rest of a start. */
const template = fileURLToPath(
  new URL(`../../dist/database-${manifest.dependencies['@electric-sql/pglite']}`, import.meta.url),
)

/** Makes the template, unless it has been made for this version of the database. */
export async function makeTemplate(): Promise<void> {
  if (existsSync(template)) return
  const unfinished = `${template}.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  const database = await PGlite.create(unfinished)
  await database.close()
  await rename(unfinished, template)
}

/** Gives a directory that is not there yet a copy of the template; without a template the database makes its own. */
export async function copyTemplate(directory: string): Promise<void> {
  if (existsSync(directory) || !existsSync(template)) return
  const unfinished = `${directory}.new`
  await rm(unfinished, { recursive: true, force: true })
  await cp(template, unfinished, { recursive: true })
  await rename(unfinished, directory)
}
