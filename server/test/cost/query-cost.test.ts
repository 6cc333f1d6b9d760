import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { mostOf } from '#testing/costly-statements.ts'
import { countRows, ofNobody } from '#testing/crowd.ts'
import { type MeasuredRequest, openMeasuredRequests } from '#testing/measured-requests.ts'
import { type PlanMode, planModes } from '#testing/statement-blocks.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** The embedded database does not report what it reads: there, only the crowd and the requests are tested. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const crowdSize = onPostgres ? 50_000 : 20

/** Requests that read the data of all users, each with the reason. */
const ofEveryone: Record<string, string> = {
  'GET /api/admin/backup': 'A backup is everything there is; it is read in pieces, on a connection of its own.',
  'POST /api/admin/restore': 'It goes into an empty database, and writes everything there is.',
}

/** Requests that a service with an operator refuses, as this one has. */
const ofSetup = ['POST /api/setup', 'POST /api/setup/check']

/**
 * PostgreSQL uses a generic plan after five executions of a prepared statement, if its estimate is not higher. With
 * outdated statistics, any may be one of those.
 */
const modes: readonly PlanMode[] = onPostgres ? planModes : ['force_custom_plan']

const requests = new Map<PlanMode, MeasuredRequest[]>()
let measured: Awaited<ReturnType<typeof openMeasuredRequests>>
before(async () => {
  measured = await openMeasuredRequests(onPostgres)
  await measured.withCrowd((crowd) => crowd.add(crowdSize))
  // A connection reads the catalog for each table at its first use.
  if (onPostgres) await measured.measure('force_custom_plan')
  for (const mode of modes) requests.set(mode, await measured.measure(mode))
})
after(() => measured.close())

test('QRY-01 every table has many rows of other users, and a new table must get some', async () => {
  const { db } = measured
  for (const { name } of await db.introspection.getTables())
    if (ofNobody[name] === undefined) assert.ok((await countRows(db, name, 'true')) >= crowdSize, name)
})

/** Endpoints whose actions are always signed: they answer 403 and start an act, which another request does. */
const doneByActs = [
  'DELETE /api/organizations/:organizationId/council/signatories/:identityId',
  'POST /api/organizations/:organizationId/council/reset',
  'POST /api/organizations/:organizationId/council/reset/completion',
  'POST /api/organizations/:organizationId/council/signatories',
]

test('QRY-02 every endpoint is called by a user with ten of each thing, among many other rows', () => {
  const isAnswer = ({ name, statusCode }: { name: string; statusCode: number }) =>
    statusCode < 400 || (statusCode === 403 && doneByActs.includes(name))
  const answered = new Set(
    [...requests.values()]
      .flat()
      .filter(isAnswer)
      .map(({ name }) => name),
  )
  const unrequested = endpoints.map(({ endpoint }) => endpoint.name).filter((name) => !answered.has(name))
  assert.deepEqual(unrequested.toSorted(), [...Object.keys(ofEveryone), ...ofSetup].toSorted())
})

if (onPostgres)
  for (const mode of modes)
    test(`QRY-03 no statement of a request reads 50 blocks, however many rows other users have (${mode})`, () => {
      const made = requests.get(mode) ?? []
      assert.ok(made.flatMap(({ ran }) => ran).length > 1000)
      const tooMany = made.flatMap(({ name, ran }) =>
        ran
          .filter(({ text, blocks }) => blocks >= mostOf(name, text))
          .map(({ text, blocks }) => `${name}: ${blocks} blocks: ${text}`),
      )
      assert.deepEqual(tooMany, [])
    })

test('QRY-04 rows deleted by a cascade are found by an index', async () => {
  const { rows } = await sql<{ name: string }>`
    select conrelid::regclass || ': ' || pg_get_constraintdef(oid) as name from pg_constraint
    where contype = 'f' and not exists (
      select from pg_index where indrelid = conrelid and indpred is null
        and (indkey::smallint[])[0:cardinality(conkey) - 1] @> conkey
    )`.execute(measured.db)
  assert.deepEqual(rows, [])
})
