import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { numberEvents } from '#platform/audit/chain.ts'
import type { Database } from '#platform/database/database.ts'
import { countRows, ofNobody, openCrowd, readPartialIndexes, type Crowd } from '#testing/crowd.ts'
import { openEnterprise } from '#testing/enterprise.ts'
import { makeEveryRequest } from '#testing/every-request.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { watchStatements, type Ran } from '#testing/statement-blocks.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** The embedded database does not report what it reads: there, only the crowd and the requests are tested. */
const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const crowdSize = onPostgres ? 50_000 : 20
const blocksMax = 50

/** Requests that read the data of all users, each with the reason. */
const ofEveryone: Record<string, string> = {
  'GET /api/admin/backup': 'A backup is everything there is; it is read in pieces, on a connection of its own.',
  'POST /api/admin/restore': 'It goes into an empty database, and writes everything there is.',
}

/** Requests that a service with an operator refuses, as this one has. */
const ofSetup = ['POST /api/setup', 'POST /api/setup/check']

/**
 * Statements that read more blocks, none of them of other users: the number with ten of each thing, and what they are.
 * Without a request, any may be the one that executes it.
 */
const costly: { request?: string; statement: RegExp; blocksMax: number; why: string }[] = [
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
  ...['GET /api/admin/audit', 'GET /api/admin/audit/export'].map((request) => ({
    request,
    statement: /^select "event_id"/,
    blocksMax: 1500,
    why: 'A filter without an index examines 1,000 events at most, here each in a block of its own.',
  })),
  {
    request: 'GET /api/admin/audit/stream',
    statement: /^select "event_id"/,
    blocksMax: 300,
    why: 'A read of 100 events at most, each in a block of its own.',
  },
  {
    statement: /^select email from operator join identity/,
    blocksMax: 100,
    why: 'All owners, some twenty here, with their addresses: a receiver of the audit log was changed.',
  },
  ...[
    ...['GET /api/admin/audit', 'GET /api/admin/audit/export', 'GET /api/admin/audit/verify'],
    'GET /api/admin/audit/stream',
    ...['PATCH /api/admin/sinks/:sinkId', 'PUT /api/admin/sinks/:sinkId/cursor', 'DELETE /api/admin/sinks/:sinkId'],
    'POST /api/admin/sinks/:sinkId/test',
  ].map((request) => ({
    request,
    statement: /^update audit_event set sequence|^insert into audit_chain/,
    blocksMax: 12_000,
    why: 'Up to 500 events of the last second that no process has numbered, each in all indexes.',
  })),
  {
    request: 'GET /api/admin/audit/verify',
    statement: /^select "event_id"/,
    blocksMax: 100,
    why: 'Twenty events, each in a block of its own.',
  },
  {
    request: 'GET /api/organizations/:organizationId/trail',
    statement: /"organization_trail(_pending)?"/,
    blocksMax: 300,
    why: 'Some fifty events of the organization, each with its place in the trail and its audit event.',
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
    request: 'GET /api/oauth/authorizations',
    statement: /^select "authorization_id"/,
    blocksMax: 100,
    why: 'Thirteen consents, each with its app.',
  },
  {
    request: 'GET /api/developer/apps/:clientId/usage',
    statement: /^insert into app_usage/,
    blocksMax: 1000,
    why: 'A timer adds the counts of all apps that had requests in the last two seconds, and not the request.',
  },
  {
    request: 'PUT /api/signing/keys/:identityId',
    statement: /^update "signing_request"|^insert into webhook_delivery/,
    blocksMax: 250,
    why: 'Twelve requests are pending for the old key: each expires, in all indexes, and its app is notified.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^update "identity_handle"/,
    blocksMax: 250,
    why: 'Ten identities with eleven handles, each changed in all indexes.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^delete from "identity_term"/,
    blocksMax: 400,
    why: 'The terms of ten identities, some ten each.',
  },
  {
    request: 'GET /api/admin/identities',
    statement: /^with read as|^select count\(\*\)/,
    blocksMax: 6000,
    why: 'A page reads a limited number of rows and looks up some ten index blocks for each, at any number of users.',
  },
  {
    request: 'POST /api/admin/groups/:groupId/members/batch',
    statement: /^insert into|^with/,
    blocksMax: 250,
    why: 'Ten members, each with an audit event in all indexes.',
  },
  {
    statement: /^select "sso_connection".*sso_group_rule/,
    blocksMax: 250,
    why: 'Those who manage a connection see its ten rules, each with its group.',
  },
  {
    statement: /^insert into "sso_group_rule"/,
    blocksMax: 100,
    why: 'Ten rules, each in two indexes.',
  },
  ...['POST /api/sso/arrivals/:flowId/link', 'GET /api/sso/:connectionId/arrive'].map((request) => ({
    request,
    statement: /^(insert into|delete from) "?(group_member|audit_event)/,
    blocksMax: 250,
    why: 'The provider of an organization names ten groups, each with rows and an audit event in all indexes.',
  })),
  {
    request: 'PUT /api/admin/apps/:clientId/roles',
    statement: /^insert into|^select "role_key"/,
    blocksMax: 250,
    why: 'Ten users with two roles each: a row and an audit event in all indexes for each, and the names of all ten.',
  },
  {
    request: 'GET /api/admin/operators',
    statement: /^select/,
    blocksMax: 250,
    why: 'All operators, 200 at most, each with the names of their identity.',
  },
  {
    request: 'GET /api/admin/health',
    statement: /select/,
    blocksMax: 1100,
    why: 'The last 500 waiting deliveries or mails at most, and all owners, 200 at most, with their identities.',
  },
  {
    request: 'GET /api/admin/overview',
    statement: /select/,
    blocksMax: 6000,
    why: 'Each of four counts ends at 10,000 rows, at any number of users.',
  },
  {
    statement: /^update operator set break_glass_mailed_at/,
    blocksMax: 100,
    why: 'All owners, some twenty here, with their addresses: ADMIN_TOKEN was used, for the first time in a minute.',
  },
  {
    request: 'GET /api/organizations/:organizationId/audit/export',
    statement: /^select "event_id"/,
    blocksMax: 400,
    why: "The whole audit log of the caller's organization, each entry with its actor.",
  },
  {
    request: 'GET /api/signing/requests/:requestId/receipt',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'The first reader of the log assigns indexes to the few pending leaves; 500 at most.',
  },
  {
    request: 'GET /api/transparency/checkpoint',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'The same.',
  },
]

/** Returns the maximum of blocks that a statement of a request may read. */
function mostOf(request: string, text: string): number {
  const exception = costly.find((one) => (one.request ?? request) === request && one.statement.test(text))
  return exception?.blocksMax ?? blocksMax
}

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
  await numberEvents(enterprise.world.db)
  await enterprise.world.kernel.alone(async (db) => {
    const crowd = await openCrowd(db)
    await leaveStale(db, crowd)
    await crowd.add(crowdSize)
    await crowd.close()
  })
  // A connection reads the catalog for each table at its first use.
  if (onPostgres) await makeEveryRequest(enterprise, mailbox)
  requests = []
  await makeEveryRequest(enterprise, mailbox)
})
after(async () => {
  unsubscribe('tracing:fastify.request.handler:start', note)
  // The crowd only has to be skipped; it meets no other invariant.
  const tables = (await enterprise.world.db.introspection.getTables()).filter(({ name }) => !name.startsWith('schema_'))
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(enterprise.world.db)
  await enterprise.close()
  await mailbox.close()
})

type Handled = { request: { method: string; routeOptions: { url: string } }; reply: { raw: ServerResponse } }

/** Records the endpoint of each request and its statements. Requests run one after another. */
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
  const answered = new Set(requests.filter(isAnswer).map(({ name }) => name))
  const unrequested = endpoints.map(({ endpoint }) => endpoint.name).filter((name) => !answered.has(name))
  assert.deepEqual(unrequested.toSorted(), [...Object.keys(ofEveryone), ...ofSetup].toSorted())
})

if (onPostgres)
  test('QRY-03 no statement of a request reads 50 blocks, however many rows other users have', () => {
    assert.ok(requests.flatMap(({ ran }) => ran).length > 1000)
    const tooMany = requests.flatMap(({ name, ran }) =>
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
