import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { sql } from 'kysely'
import { numberEvents } from '#platform/audit/chain.ts'
import type { Database } from '#platform/database/database.ts'
import { openKysely } from '#platform/database/pipeline.ts'
import type { Tables } from '#platform/database/tables.ts'
import { countRows, openCrowd, readPartialIndexes, type Crowd } from './crowd.ts'
import { openEnterprise } from './enterprise.ts'
import { makeEveryRequest } from './every-request.ts'
import { openMailbox } from './mailbox.ts'
import { useOwnPostgres, watchStatements, type PlanMode, type Ran } from './statement-blocks.ts'
import type { TestWorld } from './world.ts'

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
  organization_trail: { salt: 'null' },
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

/** Request with the statements that it ran. */
export type MeasuredRequest = { name: string; statusCode: number; ran: Ran[] }

/**
 * Opens a service in which a user with ten of each thing makes every request, to measure its statements. On PostgreSQL
 * it has a server of its own. The embedded database does not report what it reads.
 */
export async function openMeasuredRequests(onPostgres: boolean) {
  const cluster = onPostgres ? await useOwnPostgres() : undefined
  const watch = watchStatements()
  const mailbox = await openMailbox()
  let address: string | undefined
  const between = (pool: pg.Pool) => {
    address = pool.options.connectionString
    // Of several connections, some would first use a table while it is measured.
    pool.options.max = 1
    return watch.between(pool)
  }
  const enterprise = await openEnterprise({ between, environment: environmentOf(mailbox) })
  const { world } = enterprise
  const note = noteRequests(() => watch.take())
  await makeEveryRequest(enterprise, mailbox)
  await makeRemainingRows(world)
  await numberEvents(world.db)
  // The index of events without a number would keep the entries of those that have got one.
  await sql`vacuum audit_event`.execute(world.db)

  return {
    db: world.db,
    /**
     * Does work with a crowd, of which the statistics know nothing: they are from a time without it. On PostgreSQL, the
     * database that it gets has no time limit.
     */
    async withCrowd(work: (crowd: Crowd, db: Database) => Promise<void>): Promise<void> {
      const own = cluster && openPatiently(address)
      const db = own?.db ?? world.db
      const crowd = await openCrowd(db)
      await leaveStale(db, crowd, onPostgres)
      await work(crowd, db)
      await crowd.close()
      await own?.close()
    },
    /** Makes every request, with plans of one kind. */
    async measure(mode: PlanMode): Promise<MeasuredRequest[]> {
      watch.usePlans(mode)
      const deleteAdded = await rememberLimited(world)
      watch.take()
      note.take()
      await makeEveryRequest(enterprise, mailbox)
      const noted = note.take()
      await deleteAdded()
      return noted
    },
    async close(): Promise<void> {
      note.stop()
      // The crowd only has to be skipped; it meets no other invariant.
      const tables = (await world.db.introspection.getTables()).filter(({ name }) => !name.startsWith('schema_'))
      const own = cluster && openPatiently(address)
      await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(own?.db ?? world.db)
      await own?.close()
      await enterprise.close()
      await mailbox.close()
      await cluster?.[Symbol.asyncDispose]()
    },
  }
}

// Without names no connection is replaced: a new one would read the catalog again.
const environmentOf = ({ url }: { url: string }) => ({
  ...{ SMTP_URL: url, MAIL_FROM: 'Countersign <id@example.com>' },
  DATABASE_STATEMENT_NAMES: 'off',
})

/** Opens a database on one connection, with no limit of time for its statements or between them. */
function openPatiently(connectionString: string | undefined): { db: Database; close: () => Promise<void> } {
  const pool = new pg.Pool({
    ...(connectionString !== undefined && { connectionString }),
    max: 1,
    idleTimeoutMillis: 0,
  })
  return { db: openKysely<Tables>(pool), close: () => pool.end() }
}

type Handled = { request: { method: string; routeOptions: { url: string } }; reply: { raw: ServerResponse } }

/** Notes the endpoint of each request and its statements. Requests run one after another. */
function noteRequests(takeStatements: () => Ran[]) {
  let noted: MeasuredRequest[] = []
  const note = (handled: unknown) => {
    if (!isHandled(handled)) return
    const { request, reply } = handled
    const { method, routeOptions } = request
    reply.raw.once('finish', () => {
      const { statusCode } = reply.raw
      noted.push({ name: `${method} ${routeOptions.url}`, statusCode, ran: takeStatements() })
    })
  }
  const channel = 'tracing:fastify.request.handler:start'
  subscribe(channel, note)
  return {
    /** Returns the requests since the last call. */
    take(): MeasuredRequest[] {
      const taken = noted
      noted = []
      return taken
    },
    stop: () => unsubscribe(channel, note),
  }
}

function isHandled(handled: unknown): handled is Handled {
  return typeof handled === 'object' && handled !== null && 'request' in handled && 'reply' in handled
}

/**
 * Adds rows that no request here leaves behind: those of a sender, a rate limit shared between processes, or a
 * deletion.
 */
async function makeRemainingRows({ db, now }: TestWorld): Promise<void> {
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
  await sql`
    insert into signing_expired_former_request (request_id, identity_id, client_id, public_key, expires_at)
    values (gen_random_uuid(), gen_random_uuid(), 'a', sha256('a'), ${now()})`.execute(db)
  await sql`insert into delegation_former_identity (identity_id) values (gen_random_uuid())`.execute(db)
  await sql`insert into app_held_resource (resource_key, audience) values ('a', 'https://a.example')`.execute(db)
  await sql`
    insert into group_ending (group_id, source) select group_id, 'upstream' from user_group limit 20`.execute(db)
  await sql`
    insert into organization_ending (organization_id, ended_at) values (gen_random_uuid(), ${now()})`.execute(db)
  await sql`
    insert into organization_domain_loss (organization_id, domain_id, cause, mail_at)
    select organization_id, domain_id, 'taken', ${now()} from organization_domain limit 20`.execute(db)
  await sql`
    insert into sso_connection_ending (connection_id, organization_id)
    values (gen_random_uuid(), gen_random_uuid())`.execute(db)
  await sql`insert into session_logout_receiver (client_id, slow_until) values ('a', ${now()})`.execute(db)
}

/** Tables with few rows of the service as a whole, and their keys. */
const limited = { operator: 'identity_id', admin_token: 'token_id', scim_token: 'token_id', sink: 'sink_id' }

/**
 * Remembers what a service has few of. The returned function deletes what was added since: some statements read all,
 * and each of several passes is to find as many.
 */
async function rememberLimited({ db }: TestWorld): Promise<() => Promise<void>> {
  const kept = new Map<string, string[]>()
  for (const [table, key] of Object.entries(limited)) {
    const { rows } = await sql<{ id: string }>`select ${sql.ref(key)} as id from ${sql.table(table)}`.execute(db)
    const ids = rows.map(({ id }) => id)
    kept.set(table, ids)
  }
  return async () => {
    for (const [table, key] of Object.entries(limited))
      await sql`
        delete from ${sql.table(table)} where ${sql.ref(key)} <> all(${kept.get(table) ?? []}::uuid[])`.execute(db)
  }
}

/** Updates the statistics with rows outside of every partial index, and disables later updates. */
async function leaveStale(db: Database, crowd: Crowd, onPostgres: boolean): Promise<void> {
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
