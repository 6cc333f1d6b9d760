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

for (const name of await listMigrations())
  test(`${name} lets others write to existing tables while it builds indexes`, async () => {
    const statements = await readStatements(name)
    const created = new Set(statements.map((statement) => /^create (?:unlogged )?table (\w+)/.exec(statement)?.[1]))
    const plain = statements.flatMap((each) => /^create (?:unique )?index \w+ on (\w+)/.exec(each)?.[1] ?? [])
    assert.deepEqual(
      plain.filter((table) => !created.has(table)),
      [],
    )
  })
