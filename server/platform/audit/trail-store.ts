import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { councilSettings, unsignedCouncilActions } from '@countersign/protocol/formats/acts/act'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import type { Tables } from '#platform/database/tables.ts'

export type TrailEventDetails = {
  entryId: string
  identityId: IdentityId | null
  clientId: string | null
  details: JsonObject
}

export type TrailEvent = TrailEventDetails & {
  at: Date
  action: string
  actor: Selectable<Tables['audit_event']>['actor']
}

export async function listOrganizationsWithPendingEvents(
  db: Database,
  { except, count }: { except: OrganizationId[]; count: number },
): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('organization_trail_pending')
    .select('organization_id')
    .distinct()
    .where(sql<boolean>`organization_id <> all(${except}::uuid[])`)
    .orderBy('organization_id')
    .limit(count)
    .execute()
  return rows.map((row) => row.organization_id)
}

/** Number and digest of the last entry of a trail, and digest of the statement that was last signed for one. */
export type TrailHeadRow = { sequence: number; head: string | null; lastAct: string | null }

const headColumns = ['sequence', 'head', 'last_act as lastAct'] as const

/** Locks the head of a trail until the end of the transaction, and creates it for the first entry. */
export async function lockTrail(tx: Transaction, organizationId: OrganizationId): Promise<TrailHeadRow> {
  await tx
    .insertInto('organization_trail_head')
    .values({ organization_id: organizationId, sequence: 0, head: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx
    .selectFrom('organization_trail_head')
    .select(headColumns)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** Lists the oldest events that have no place. */
export function listPendingEvents(
  tx: Transaction,
  organizationId: OrganizationId,
  count: number,
): Promise<TrailEvent[]> {
  return tx
    .selectFrom('organization_trail_pending')
    .innerJoin('audit_event', 'audit_event.event_id', 'organization_trail_pending.event_id')
    .select([
      'audit_event.event_id as entryId',
      'occurred_at as at',
      'action',
      'actor',
      'identity_id as identityId',
      'client_id as clientId',
    ])
    .select(({ ref }) => ref('details').$castTo<JsonObject>().as('details'))
    .where('organization_trail_pending.organization_id', '=', organizationId)
    .orderBy('organization_trail_pending.event_id')
    .limit(count)
    .execute()
}

type NewEntry = { eventId: string; sequence: number; entry: string; salt: Uint8Array }

/** Signature of an entry, as it is stored. */
export type ActSignature = { statement: string; presence: Uint8Array; signature: Uint8Array }

/** Appends the entry of a signed act, with the head after it. The caller has locked the trail. */
export async function appendSignedEntry(
  tx: Transaction,
  organizationId: OrganizationId,
  {
    row: { eventId, ...row },
    acts,
    ...after
  }: {
    row: NewEntry & { details: string; proposal: string | null }
    acts: ActSignature[]
    head: string
    lastAct: string
  },
): Promise<void> {
  const organization = { organization_id: organizationId }
  const { sequence } = row
  await tx
    .insertInto('organization_trail')
    .values({ ...organization, ...row, event_id: eventId })
    .execute()
  await tx
    .insertInto('organization_act_signature')
    .values(acts.map((act, position) => ({ ...organization, sequence, position, ...act })))
    .execute()
  await tx
    .updateTable('organization_trail_head')
    .set({ sequence, head: after.head, last_act: after.lastAct })
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Appends entries, with the head after them, and removes their events from the queue. */
export async function appendEntries(
  tx: Transaction,
  organizationId: OrganizationId,
  { rows, head }: { rows: NewEntry[]; head: string | null },
): Promise<void> {
  const organization = { organization_id: organizationId }
  await tx
    .insertInto('organization_trail')
    .values(rows.map(({ eventId, ...row }) => ({ ...organization, ...row, event_id: eventId })))
    .execute()
  await tx
    .deleteFrom('organization_trail_pending')
    .where('organization_id', '=', organizationId)
    .where(
      'event_id',
      'in',
      rows.map(({ eventId }) => eventId),
    )
    .execute()
  await tx
    .updateTable('organization_trail_head')
    .set({ sequence: rows.at(-1)?.sequence ?? 0, head })
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Removes events from the queue that no longer exist. */
export async function forgetDeletedEvents(db: Database, organizationId: OrganizationId): Promise<void> {
  await db
    .deleteFrom('organization_trail_pending')
    .where('organization_id', '=', organizationId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('audit_event')
            .select('audit_event.event_id')
            .whereRef('audit_event.event_id', '=', 'organization_trail_pending.event_id'),
        ),
      ),
    )
    .execute()
}

/** Lists the events of a range of places that may change the council of an organization without a signature. */
export function listCouncilEvents(
  tx: Transaction,
  { after, to }: { after: number; to: number },
): Promise<(TrailEventDetails & { organizationId: OrganizationId })[]> {
  return tx
    .selectFrom('audit_event')
    .select(['event_id as entryId', 'identity_id as identityId', 'client_id as clientId'])
    .select(({ ref }) => ref('organization_id').$notNull().as('organizationId'))
    .select(({ ref }) => ref('details').$castTo<JsonObject>().as('details'))
    .where('sequence', '>', String(after))
    .where('sequence', '<=', String(to))
    .where('organization_id', 'is not', null)
    .where(({ eb, or }) =>
      or([
        eb('action', 'in', unsignedCouncilActions),
        sql<boolean>`action = 'organization.updated' and details -> 'changed' ?| ${councilSettings}::text[]`,
      ]),
    )
    .execute()
}

type InTrail = { organizationId: OrganizationId; eventId: string }

/**
 * Stores details in the entries of events, unless they are there already or were erased. An organization without a
 * signed entry before has no council, and needs none.
 */
export async function keepDetails(tx: Transaction, rows: (InTrail & { details: string })[]): Promise<void> {
  await sql`
    update organization_trail trail set details = kept.details
    from unnest(${rows.map(({ organizationId }) => organizationId)}::uuid[],
      ${rows.map(({ eventId }) => eventId)}::uuid[], ${rows.map(({ details }) => details)}::text[])
      as kept (organization_id, event_id, details)
    where trail.organization_id = kept.organization_id and trail.event_id = kept.event_id ${isInTrails(tx, rows)}
      and trail.salt is not null and trail.details is null
      and exists (
        select from organization_act_signature signature
        where signature.organization_id = trail.organization_id and signature.sequence < trail.sequence
      )`.execute(tx)
}

/** Builds the condition that tells a distributed database the shards. With it, one server could read whole trails. */
function isInTrails(tx: Transaction, rows: InTrail[]): RawBuilder<unknown> {
  if (!isDistributed(tx)) return sql``
  return sql`and trail.organization_id = any(${[...new Set(rows.map((row) => row.organizationId))]}::uuid[])`
}

/** Deletes the salts of entries that do not contain the details. */
export async function deleteSalts(tx: Transaction, rows: InTrail[]): Promise<void> {
  await sql`
    update organization_trail trail set salt = null
    from unnest(${rows.map(({ organizationId }) => organizationId)}::uuid[],
      ${rows.map(({ eventId }) => eventId)}::uuid[]) as deleted (organization_id, event_id)
    where trail.organization_id = deleted.organization_id and trail.event_id = deleted.event_id ${isInTrails(tx, rows)}
      and trail.salt is not null and trail.details is null`.execute(tx)
}

/** Entry of a trail, its event and salt unless these were deleted, and details that were signed or kept. */
export type TrailRow = {
  sequence: number
  entry: string
  salt: Uint8Array | null
  ownDetails: string | null
  proposal: string | null
  event: TrailEventDetails | null
  acts: ActSignature[]
}

/** Entries of a trail after the entry `after`, up to the entry `to`. */
type Range = { after: number; to?: number | undefined }

/** Lists `count` entries of a trail in a range, oldest first. */
export async function listTrailRows(
  db: Database,
  organizationId: OrganizationId,
  { after, to }: Range,
  count: number,
): Promise<TrailRow[]> {
  const ofTrail = db
    .selectFrom('organization_trail')
    .select(['organization_trail.sequence', 'entry', 'salt', 'organization_trail.details as ownDetails', 'proposal'])
    .select('organization_trail.event_id as eventId')
    .where('organization_trail.organization_id', '=', organizationId)
    .where('organization_trail.sequence', '>', after)
    .$if(to !== undefined, (some) => some.where('organization_trail.sequence', '<=', to ?? 0))
    .orderBy('organization_trail.sequence')
    .limit(count)
  const joined = ofTrail
    .leftJoin('audit_event', 'audit_event.event_id', 'organization_trail.event_id')
    .select(['audit_event.event_id as entryId', 'identity_id as identityId', 'client_id as clientId'])
    .select(({ ref }) => ref('audit_event.details').$castTo<JsonObject | null>().as('details'))
    .modifyEnd(onOneServer)
  const rows = isDistributed(db) ? await withEvents(db, await ofTrail.execute()) : await joined.execute()
  const [first, last] = [rows[0], rows.at(-1)]
  const signatures = first && last ? await listSignatures(db, organizationId, first.sequence, last.sequence) : []
  const signed = Map.groupBy(signatures, ({ sequence }) => sequence)
  return rows.map(({ eventId, entryId, identityId, clientId, details, ...row }) => {
    const event = entryId === null || details === null ? null : { entryId: eventId, details, identityId, clientId }
    return { ...row, event, acts: signed.get(row.sequence) ?? [] }
  })
}

/** Adds what the events of entries contain, which are in other shards. */
async function withEvents<Row extends { eventId: string }>(db: Database, rows: Row[]) {
  const events = await db
    .selectFrom('audit_event')
    .select(['event_id as entryId', 'identity_id as identityId', 'client_id as clientId'])
    .select(({ ref }) => ref('details').$castTo<JsonObject>().as('details'))
    .where(sql<boolean>`event_id = any(${rows.map(({ eventId }) => eventId)}::uuid[])`)
    .execute()
  const known = new Map(events.map((event) => [event.entryId, event]))
  const none = { entryId: null, identityId: null, clientId: null, details: null }
  return rows.map((row) => ({ ...row, ...(known.get(row.eventId) ?? none) }))
}

function listSignatures(db: Database, organizationId: OrganizationId, from: number, to: number) {
  return db
    .selectFrom('organization_act_signature')
    .select(['sequence', 'statement', 'presence', 'signature'])
    .where('organization_id', '=', organizationId)
    .where('sequence', '>=', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .orderBy('position')
    .execute()
}
