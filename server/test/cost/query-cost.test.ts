import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import { countRows, ofNobody, openCrowd, readPartialIndexes, type Crowd } from '#testing/crowd.ts'
import { openEnterprise } from '#testing/enterprise.ts'
import { makeEveryRequest } from '#testing/every-request.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { watchStatements, type Ran } from '#testing/statement-blocks.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** The embedded database gives no account of what it reads: there the crowd and the requests alone are shown. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const crowdSize = onPostgres ? 50_000 : 20
const blocksMax = 50

/** Requests that read the data of everyone, each with why it must. */
const ofEveryone: Record<string, string> = {
  'GET /api/admin/backup': 'A backup is everything there is; it is read in pieces, on a connection of its own.',
  'POST /api/admin/restore': 'It goes into an empty database, and writes everything there is.',
}

/** Statements that read more blocks, of which none are others': how many with ten of each thing, and what they are. */
const costly: { request: string; statement: RegExp; blocksMax: number; why: string }[] = [
  {
    request: 'GET /api/oauth/delegations',
    statement: /^select "delegation_id"/,
    blocksMax: 200,
    why: 'Ten delegations, each with its source app, its resource and its target app.',
  },
  {
    request: 'GET /api/developer/apps',
    statement: /^select "app"\."client_id"/,
    blocksMax: 150,
    why: 'Ten apps, each with its secrets and with when these end.',
  },
  {
    request: 'GET /api/admin/apps',
    statement: /^select "app"\."client_id"/,
    blocksMax: 150,
    why: 'A page of five apps of the operator and the one after it, each with its secrets and with when these end.',
  },
  {
    request: 'GET /api/signing/requests',
    statement: /^select "signing_request"\."identity_id"/,
    blocksMax: 300,
    why: 'Thirteen requests, each with its app and with the consent to it.',
  },
  {
    request: 'GET /api/signing/requests',
    statement: /^select "signing_organization_request"\."organization_id"|^select "identity_id" as "identityId"/,
    blocksMax: 150,
    why: 'Thirteen requests to an organization, each with its app, whether that acts for it, and what was signed.',
  },
  {
    request: 'PUT /api/signing/keys/:identityId',
    statement: /^update "signing_request"|^insert into webhook_delivery/,
    blocksMax: 250,
    why: 'Twelve requests wait for the key that goes: each ends, in all indexes, and its app is told.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^update "identity_handle"/,
    blocksMax: 250,
    why: 'Ten identities with eleven handles, each changed in all indexes.',
  },
  {
    request: 'GET /api/organizations/:organizationId/audit/export',
    statement: /^select "entry_id"/,
    blocksMax: 400,
    why: 'The whole trail of the organization of the caller, each entry with who acted.',
  },
  {
    request: 'GET /api/signing/requests/:requestId/receipt',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'Who reads the log first gives their places to the few leaves that wait; 500 at most.',
  },
  {
    request: 'GET /api/transparency/checkpoint',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'The same.',
  },
]

/** How many blocks a statement of a request may read. */
function mostOf(request: string, text: string): number {
  const exception = costly.find((one) => one.request === request && one.statement.test(text))
  return exception?.blocksMax ?? blocksMax
}

/**
 * Rows outside of each partial index. The database has last counted when all were like these: it takes the indexes for
 * empty, and for a cheap way to whatever is asked.
 */
const outside: Record<string, Record<string, string>> = {
  app: { document_read_at: 'null' },
  audit_entry: { organization_id: 'null', user_id: 'coalesce(user_id, gen_random_uuid())' },
  authorization_consent: { client_id: `'app_' || md5(client_id || nth)` },
  delegation_grant: { revoked_at: 'created_at' },
  organization_invitation: { identity_id: 'null', email: `'ann@example.com'` },
  organization_key: { ended_at: 'created_at' },
  session: { organization_id: 'null', identity_id: 'null' },
  session_app: { organization_id: 'null' },
  // No such row is ever there: what an index of all rows has in its condition only keeps other queries from it.
  session_logout: { attempts: '-1' },
  signing_key: { ended_at: 'created_at', in_log: 'true' },
  signing_organization_request: { status: `'signed'`, resolved_at: 'created_at' },
  signing_request: {
    status: `'signed'`,
    resolved_at: 'created_at',
    signature: `sha512(request_id::text::bytea || nth::text::bytea)`,
  },
  sso_encryption_key: { ends_at: 'created_at' },
  token_lineage: { organization_id: 'null', sso_connection_id: 'null' },
  transparency_leaf: { leaf_index: 'null', due_at: `timestamptz '2099-01-01'` },
  webhook_delivery: { state: `'delivered'`, due_at: 'null' },
}

/** Indexes of just those rows that another index has not. */
const opposites = ['delegation_grant_revoked', 'transparency_leaf_pending']

type Request = { name: string; statusCode: number; ran: Ran[] }

const watch = watchStatements()
let mailbox: Mailbox
let enterprise: Awaited<ReturnType<typeof openEnterprise>>
let requests: Request[] = []
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' }
  enterprise = await openEnterprise({ between: watch.between, environment })
  subscribe('tracing:fastify.request.handler:start', note)
  await makeEveryRequest(enterprise, mailbox)
  await makeRemainingRows()
  await enterprise.world.kernel.alone(async (db) => {
    const crowd = await openCrowd(db)
    await leaveStale(db, crowd)
    await crowd.add(crowdSize)
    await crowd.close()
  })
  // A connection reads the catalogue for each table that it comes to first.
  if (onPostgres) await makeEveryRequest(enterprise, mailbox)
  requests = []
  await makeEveryRequest(enterprise, mailbox)
})
after(async () => {
  unsubscribe('tracing:fastify.request.handler:start', note)
  // The crowd is there to be passed by; nothing else is true of it.
  const tables = (await enterprise.world.db.introspection.getTables()).filter(({ name }) => !name.startsWith('schema_'))
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(enterprise.world.db)
  await enterprise.close()
  await mailbox.close()
})

type Handled = { request: { method: string; routeOptions: { url: string } }; reply: { raw: ServerResponse } }

/** Notes of each request which endpoint it is of, and which statements have run for it. They come one after another. */
function note(handled: unknown): void {
  if (!isHandled(handled)) return
  const { request, reply } = handled
  const { method, routeOptions } = request
  reply.raw.once('finish', () => {
    const { statusCode } = reply.raw
    requests.push({ name: `${method} ${routeOptions.url}`, statusCode, ran: watch.take() })
  })
}

function isHandled(handled: unknown): handled is Handled {
  return typeof handled === 'object' && handled !== null && 'request' in handled && 'reply' in handled
}

/** What no request here leaves behind: what a sender, a limit that processes share or a deletion would. */
async function makeRemainingRows(): Promise<void> {
  const { db, now } = enterprise.world
  await sql`
    insert into webhook_attempt (client_id, delivery_id, attempt, at, status)
    select client_id, delivery_id, 1, ${now()}, 204 from webhook_delivery`.execute(db)
  await sql`
    insert into rate_limit_window (key_sha256, taken, ends_at)
    select sha256('a'), 1, ${now()}`.execute(db)
  await sql`insert into delegation_former_identity (identity_id) values (gen_random_uuid())`.execute(db)
  await sql`insert into app_held_resource (resource_key, audience) values ('a', 'https://a.example')`.execute(db)
  await sql`insert into session_logout_receiver (client_id, slow_until) values ('a', ${now()})`.execute(db)
}

/** Has the database count rows that are outside of every partial index, and never again. */
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

test('QRY-01 every table has many rows of others, and a new one must be given some', async () => {
  const { db } = enterprise.world
  for (const { name } of await db.introspection.getTables())
    if (ofNobody[name] === undefined) assert.ok((await countRows(db, name, 'true')) >= crowdSize, name)
})

test('QRY-02 every endpoint is asked, by somebody who has ten of each thing, amid a crowd', () => {
  const answered = new Set(requests.filter(({ statusCode }) => statusCode < 400).map(({ name }) => name))
  const unasked = endpoints.map(({ endpoint }) => endpoint.name).filter((name) => !answered.has(name))
  assert.deepEqual(unasked.toSorted(), Object.keys(ofEveryone).toSorted())
})

if (onPostgres)
  test('QRY-03 no statement of a request reads 50 blocks, however many rows others have', () => {
    assert.ok(requests.flatMap(({ ran }) => ran).length > 1000)
    const tooMany = requests.flatMap(({ name, ran }) =>
      ran
        .filter(({ text, blocks }) => blocks >= mostOf(name, text))
        .map(({ text, blocks }) => `${name}: ${blocks} blocks: ${text}`),
    )
    assert.deepEqual(tooMany, [])
  })

test('QRY-04 what goes with a row that is deleted is found by an index', async () => {
  const { rows } = await sql<{ name: string }>`
    select conrelid::regclass || ': ' || pg_get_constraintdef(oid) as name from pg_constraint
    where contype = 'f' and not exists (
      select from pg_index where indrelid = conrelid and indpred is null
        and (indkey::smallint[])[0:cardinality(conkey) - 1] @> conkey
    )`.execute(enterprise.world.db)
  assert.deepEqual(rows, [])
})
