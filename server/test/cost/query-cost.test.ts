import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { sql } from 'kysely'
import { numberEvents } from '#platform/audit/chain.ts'
import type { Database } from '#platform/database/database.ts'
import { mostOf } from '#testing/costly-statements.ts'
import { countRows, ofNobody, openCrowd, readPartialIndexes, type Crowd } from '#testing/crowd.ts'
import { openEnterprise } from '#testing/enterprise.ts'
import { makeEveryRequest } from '#testing/every-request.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { useOwnPostgres, watchStatements, type PlanMode, type Ran } from '#testing/statement-blocks.ts'
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
 * Rows outside of each partial index. The statistics are from a time when all rows were like these, so the database
 * considers the indexes empty and cheap for any query.
 */
const outside: Record<string, Record<string, string>> = {
  app: { metadata_fetched_at: 'null', owner_user_id: 'coalesce(owner_user_id, gen_random_uuid())' },
  audit_event: {
    organization_id: 'null',
    user_id: 'coalesce(user_id, gen_random_uuid())',
    action: `case action when 'identity.viewed' then 'identity.updated' else action end`,
  },
  authorization_consent: { client_id: `'app_' || md5(client_id || nth)` },
  delegation_grant: { revoked_at: 'created_at' },
  group_member: { source: `'manual'`, expires_at: 'null' },
  organization_invitation: { identity_id: 'null', email: `'ann@example.com'` },
  organization_key: { retired_at: 'created_at' },
  session: { organization_id: 'null', identity_id: 'null' },
  session_app: { organization_id: 'null' },
  // Such a row never exists: an index of all rows has this condition only to keep other queries from using it.
  session_logout: { attempts: '-1' },
  signing_key: { replaced_at: 'created_at' },
  signing_organization_request: { status: `'signed'`, resolved_at: 'created_at' },
  signing_request: {
    status: `'signed'`,
    resolved_at: 'created_at',
    signature: `sha512(request_id::text::bytea || nth::text::bytea)`,
  },
  sso_encryption_key: { expires_at: 'created_at' },
  token_family: { code_redeemed_at: 'created_at', organization_id: 'null', sso_connection_id: 'null' },
  transparency_leaf: { leaf_index: 'null', integrate_at: `timestamptz '2099-01-01'` },
  user_group: { organization_id: 'null' },
  webhook_delivery: { state: `'delivered'`, payload: 'null', next_attempt_at: 'null' },
}

/** Indexes of exactly those rows that another index omits. */
const opposites = [
  ...[
    'delegation_grant_revoked',
    'recovery_link_issued',
    'transparency_leaf_pending',
    'audit_event_of_user',
    'audit_event_in_sequence',
  ],
  ...['audit_event_of_identity_in_sequence', 'audit_event_of_organization_in_sequence'],
]

type Request = { name: string; statusCode: number; ran: Ran[] }

/**
 * PostgreSQL uses a generic plan after five executions of a prepared statement, if its estimate is not higher. With
 * outdated statistics, any may be one of those.
 */
const planModes: PlanMode[] = onPostgres ? ['force_custom_plan', 'force_generic_plan'] : ['force_custom_plan']

const watch = watchStatements()
let mailbox: Mailbox
let enterprise: Awaited<ReturnType<typeof openEnterprise>>
const requests = new Map<PlanMode, Request[]>()
let noted: Request[] = []
let cluster: AsyncDisposable | undefined
before(async () => {
  if (onPostgres) cluster = await useOwnPostgres()
  mailbox = await openMailbox()
  // Without names no connection is replaced: a new one would read the catalog again.
  const names = { DATABASE_STATEMENT_NAMES: 'off' }
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>', ...names }
  const between = (pool: pg.Pool) => {
    // Of several connections, some would first use a table while it is measured.
    pool.options.max = 1
    return watch.between(pool)
  }
  enterprise = await openEnterprise({ between, environment })
  subscribe('tracing:fastify.request.handler:start', note)
  await makeEveryRequest(enterprise, mailbox)
  await makeRemainingRows()
  await numberEvents(enterprise.world.db)
  // The index of events without a number would keep the entries of those that have got one.
  await sql`vacuum audit_event`.execute(enterprise.world.db)
  await enterprise.world.kernel.alone(async (db) => {
    const crowd = await openCrowd(db)
    await leaveStale(db, crowd)
    await crowd.add(crowdSize)
    await crowd.close()
  })
  // A connection reads the catalog for each table at its first use.
  if (onPostgres) await makeEveryRequest(enterprise, mailbox)
  for (const mode of planModes) {
    watch.usePlans(mode)
    noted = []
    const deleteAdded = await rememberOperators()
    await makeEveryRequest(enterprise, mailbox)
    requests.set(mode, noted)
    await deleteAdded()
    watch.take()
  }
})
after(async () => {
  unsubscribe('tracing:fastify.request.handler:start', note)
  // The crowd only has to be skipped; it meets no other invariant.
  const tables = (await enterprise.world.db.introspection.getTables()).filter(({ name }) => !name.startsWith('schema_'))
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(enterprise.world.db)
  await enterprise.close()
  await mailbox.close()
  await cluster?.[Symbol.asyncDispose]()
})

type Handled = { request: { method: string; routeOptions: { url: string } }; reply: { raw: ServerResponse } }

/** Records the endpoint of each request and its statements. Requests run one after another. */
function note(handled: unknown): void {
  if (!isHandled(handled)) return
  const { request, reply } = handled
  const { method, routeOptions } = request
  reply.raw.once('finish', () => {
    const { statusCode } = reply.raw
    noted.push({ name: `${method} ${routeOptions.url}`, statusCode, ran: watch.take() })
  })
}

function isHandled(handled: unknown): handled is Handled {
  return typeof handled === 'object' && handled !== null && 'request' in handled && 'reply' in handled
}

/**
 * Adds rows that no request here leaves behind: those of a sender, a rate limit shared between processes, or a
 * deletion.
 */
async function makeRemainingRows(): Promise<void> {
  const { db, now } = enterprise.world
  await sql`
    insert into webhook_attempt (receiver_id, delivery_id, attempt, attempted_at, response_status)
    select receiver_id, delivery_id, 1, ${now()}, 204 from webhook_delivery`.execute(db)
  await sql`
    insert into webhook_delivery_part (receiver_id, delivery_id, identity_id, path, value)
    select receiver_id, delivery_id, gen_random_uuid(), '{approval}', '{}' from webhook_delivery
    where state <> 'delivered' limit 1`.execute(db)
  await sql`
    insert into rate_limit_window (key_sha256, count, expires_at)
    select sha256('a'), 1, ${now()}`.execute(db)
  await sql`insert into delegation_former_identity (identity_id) values (gen_random_uuid())`.execute(db)
  await sql`insert into app_held_resource (resource_key, audience) values ('a', 'https://a.example')`.execute(db)
  await sql`insert into session_logout_receiver (client_id, slow_until) values ('a', ${now()})`.execute(db)
}

/**
 * Remembers the operators. The returned function deletes those that were added since: some statements read all, and
 * each of several passes is to find as many.
 */
async function rememberOperators(): Promise<() => Promise<void>> {
  const { db } = enterprise.world
  const operators = await db.selectFrom('operator').select('identity_id').execute()
  const identityIds = operators.map((operator) => operator.identity_id)
  return async () => void (await db.deleteFrom('operator').where('identity_id', 'not in', identityIds).execute())
}

/** Updates the statistics with rows outside of every partial index, and disables later updates. */
async function leaveStale(db: Database, crowd: Crowd): Promise<void> {
  const indexes = await readPartialIndexes(db)
  const countInside = () => Promise.all(indexes.map(({ table, predicate }) => countRows(db, table, predicate)))
  const before = await countInside()
  await crowd.add(200, outside)
  const counted = await countInside()
  for (const [nth, { name }] of indexes.entries())
    if (!opposites.includes(name))
      assert.equal(counted[nth], before[nth], `say in \`outside\` which rows are not in ${name}`)
  if (!onPostgres) return
  for (const { name } of await db.introspection.getTables())
    await sql`alter table ${sql.table(name)} set (autovacuum_enabled = off)`.execute(db)
  await sql`analyze`.execute(db)
}

test('QRY-01 every table has many rows of other users, and a new table must get some', async () => {
  const { db } = enterprise.world
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
  for (const mode of planModes)
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
    )`.execute(enterprise.world.db)
  assert.deepEqual(rows, [])
})
