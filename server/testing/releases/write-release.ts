/**
 * Writes the database of this version, filled by every request, with what its users hold: the data from which later
 * versions are tested to upgrade. Part of a release: `npm run release-data`.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { sql } from 'kysely'
import { streamRows } from '#operations/backup/store.ts'
import { type Database, snapshot } from '#platform/database/database.ts'
import { listMigrations } from '#platform/database/migrate.ts'
import manifest from '#package.json' with { type: 'json' }
import { openEnterprise } from '../enterprise.ts'
import { makeEveryRequest } from '../every-request.ts'
import { openMailbox } from '../mailbox.ts'
import { folderOf, hashMigration, type Release } from './release.ts'
import { addUsers } from './users.ts'

const mailbox = await openMailbox()
const secretKey = randomBytes(32).toString('base64url')
const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>', DEVELOPER_PORTAL: 'on' }
const enterprise = await openEnterprise({ environment, secretKey })
await makeEveryRequest(enterprise, mailbox)
const users = await addUsers(enterprise)
const { world } = enterprise
const { version } = manifest
const migrations = await listMigrations()
const release: Release = {
  ...{ version, at: world.now().toISOString(), secretKey },
  migrations: Object.fromEntries(await Promise.all(migrations.map(async (name) => [name, await hashMigration(name)]))),
  users,
}
await mkdir(folderOf(version), { recursive: true })
await writeFile(join(folderOf(version), 'release.json'), `${JSON.stringify(release, null, 2)}\n`)
await writeFile(join(folderOf(version), 'rows.br'), brotliCompressSync(await readRows(world.db)))
await enterprise.close()
await mailbox.close()

/** Reads all rows: one line each, the table and the row. */
function readRows(db: Database): Promise<string> {
  return snapshot(db, async (tx) => {
    const { rows: tables } = await sql<{ name: string }>`
      select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`.execute(tx)
    const texts: string[] = []
    for (const { name } of tables)
      for await (const lines of streamRows(tx, name)) texts.push(...lines.map((line) => `${name}\t${line}\n`))
    return texts.join('')
  })
}
