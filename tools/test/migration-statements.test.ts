import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadModule, parseSync } from 'libpg-query'
import { listMigrations, readStatements } from '../../server/platform/database/migrate.ts'

await loadModule()

for (const name of await listMigrations())
  test(`the statements of ${name} can be sent one at a time, as a distributed database takes them`, async () => {
    const counts = (await readStatements(name)).map((statement) => parseSync(statement).stmts?.length)
    assert.deepEqual(new Set(counts), new Set([1]))
  })
