import { csvRecord } from '@countersign/protocol/formats/files/csv'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { ActivityEntry, ActivityKind } from '@countersign/protocol/accounts/account'
import type { AdminActivityEntry } from '@countersign/protocol/operations/people'
import { asId, type ClientId, type IdentityId, type OrganizationId, type UserId } from '@countersign/protocol/ids'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import { createEventId } from './event-id.ts'
import * as store from './store.ts'
import type { NamedIdentity, OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import { addSeconds } from '#platform/clock.ts'
import { currentOrigin } from '#platform/request-place.ts'

/** Large pages, because PostgreSQL may sort all of a user's rows for each page when it lacks statistics. */
const pageEntries = 2000

/** Reads all activity of a user's account in pages, newest first. */
export function readActivity(db: Database, userId: UserId): AsyncGenerator<ActivityEntry[]> {
  return readPages<ActivityEntry>(pageEntries, (last, count) =>
    listActivity(db, userId, { before: last?.entryId, count }),
  )
}

/** Beginnings of the names of the actions of each kind. An action may be of two kinds. */
const actionsOfKind: Record<ActivityKind, readonly string[]> = {
  sign_in: ['session.', 'app.authorized', 'app.signed_in', 'sso.login.', 'account.created', 'account.recovered'],
  apps: ['app.', 'app_key.', 'delegation.', 'resource.', 'token_family.'],
  signing: ['signing.', 'signing_key.', 'organization.signing.'],
  security: [
    ...['account.', 'operator.', 'passkey.', 'session.', 'recovery_link.', 'signing_key.', 'encryption_key.'],
    'token_family.reuse_detected',
  ],
  identities: ['identity.', 'group.'],
  organizations: ['organization.', 'sso.', 'scim.', 'signing.organization.'],
}

type ActivityQuery = {
  before?: string | undefined
  count: number
  kind?: ActivityKind | undefined
  identityId?: IdentityId | undefined
}

/** Lists activity of a user's account, newest first: `count` events older than `before`. */
export async function listActivity(
  db: Database,
  userId: UserId,
  { kind, ...page }: ActivityQuery,
): Promise<ActivityEntry[]> {
  const actions = kind && actionsOfKind[kind]
  const entries = await store.listAuditEventsOfUser(db, userId, { ...page, actions })
  return entries.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}

/**
 * Details of events that an operator sees in the activity of an identity. Others may be equal in the identities of one
 * user: passkeys, browsers, counts of sessions.
 */
const detailsForOperator = [
  ...['by', 'changed', 'delegationId', 'keyVersion', 'mode', 'requestId', 'resource', 'resourceKey', 'role', 'scope'],
  ...['targetApp', 'uses'],
]

/** Lists events of one identity for the operator, newest first: `count` events older than `before`. */
export async function listActivityOfIdentity(
  db: Database,
  identityId: IdentityId,
  page: { before: string | undefined; count: number },
): Promise<AdminActivityEntry[]> {
  const entries = await store.listAuditEventsOfIdentity(db, identityId, page)
  return entries.map(({ at, details, ...entry }) => ({
    ...entry,
    at: at.toISOString(),
    details: Object.fromEntries(Object.entries(details).filter(([name]) => detailsForOperator.includes(name))),
  }))
}

/** Time in which further looks of the same operator at an identity are not recorded. */
const viewSeconds = 600

/**
 * Records that an operator looks at an identity, unless a recent look of theirs is recorded. Returns false if the
 * identity does not exist.
 */
export function recordIdentityView(
  db: Database,
  viewer: Pick<AuditEvent, 'actor' | 'operator'>,
  identityId: IdentityId,
  now: Date,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    // The lock makes looks at one identity wait for each other: each of them sees what the others recorded.
    if (!(await store.lockViewedIdentity(tx, identityId))) return false
    const view = rowOf(tx, createEventId(), { ...viewer, action: 'identity.viewed', identityId }, now)
    await store.insertViewUnlessRecent(tx, view, addSeconds(now, -viewSeconds))
    return true
  })
}

/**
 * `before`: the event after the last one to list. `by`: the acting identity. `from`, `until`: instants, the end
 * excluded.
 */
type AuditQuery = {
  organizationId: OrganizationId
  before?: string | undefined
  action?: string | undefined
  by?: IdentityId | undefined
  from?: Date | undefined
  until?: Date | undefined
}

const batch = 500

/** Lists audit events of an organization, newest first: `count` events older than `before`. */
export async function listOrganizationAuditEvents(
  db: Database,
  requested: AuditQuery,
  count: number,
): Promise<OrganizationAuditEntry[]> {
  const entries = await store.listAuditEventsOfOrganization(db, requested, count)
  return entries.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}

/**
 * Names the identities of an organization's events: those who acted, and those in details. Deleted ones are missing,
 * and invitees who neither joined nor are still invited.
 */
export async function listPeopleOf(
  db: Database,
  organizationId: OrganizationId,
  entries: OrganizationAuditEntry[],
  now: Date,
): Promise<NamedIdentity[]> {
  const [members, invitees] = [new Set<IdentityId>(), new Set<IdentityId>()]
  for (const { action, identityId, details } of entries) {
    if (identityId !== null) (action === 'organization.invitation.declined' ? invitees : members).add(identityId)
    for (const id of identitiesIn(details, ['memberIdentityId', 'signatoryIdentityId'])) members.add(id)
    for (const id of identitiesIn(details, ['invitedIdentityId'])) invitees.add(id)
  }
  if (members.size + invitees.size === 0) return []
  return store.listNamedIdentities(db, { organizationId, members: [...members], invitees: [...invitees] }, now)
}

function identitiesIn(details: Record<string, unknown>, names: string[]): IdentityId[] {
  const found = names.map((name) => details[name])
  return found.flatMap((value) => (typeof value === 'string' ? [asId<IdentityId>(value)] : []))
}

/** File formats of the complete audit log. */
export const auditExportFormats = {
  csv: { type: 'text/csv; charset=utf-8; header=present', head: csvRecord(columnNames()), line: csvLine },
  jsonl: { type: 'application/jsonl; charset=utf-8', head: '', line: (entry: object) => `${JSON.stringify(entry)}\n` },
} as const

/** Writes the complete audit log as the text of a file, in pieces that are read while it is sent. */
export async function* writeAuditExport(
  db: Database,
  requested: AuditQuery,
  format: keyof typeof auditExportFormats,
): AsyncGenerator<string> {
  const { head, line } = auditExportFormats[format]
  if (head !== '') yield head
  const pages = readPages<OrganizationAuditEntry>(batch, (last, count) =>
    listOrganizationAuditEvents(db, { ...requested, before: last?.entryId ?? requested.before }, count),
  )
  for await (const entries of pages) yield entries.map(line).join('')
}

function columnNames(): (keyof OrganizationAuditEntry)[] {
  return ['entryId', 'at', 'action', 'actor', 'identityId', 'handle', 'clientId', 'details']
}

function csvLine(entry: OrganizationAuditEntry): string {
  return csvRecord(columnNames().map((name) => textOf(entry[name])))
}

function textOf(value: OrganizationAuditEntry[keyof OrganizationAuditEntry]): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? '')
}

/** Actions by the module that records them. Each `module.ts` adds its own. */
export interface DeclaredAuditActions {}

/** Audit actions, in the past tense. Their names never change. */
export type AuditAction = DeclaredAuditActions[keyof DeclaredAuditActions]

/** Operator who acted: an identity, an admin token or a SCIM token by its name at that time, or ADMIN_TOKEN. */
type ActingOperator =
  | { kind: 'operator'; id: IdentityId }
  | { kind: 'token' | 'scim'; id: string; name: string }
  | { kind: 'break_glass' }

export type AuditEvent = {
  action: AuditAction
  actor: 'user' | 'app' | 'operator' | 'system'
  userId?: UserId
  identityId?: IdentityId
  clientId?: ClientId
  organizationId?: OrganizationId
  details?: Record<string, string | number | boolean | string[] | Record<string, string | null>[]>
  /** Operator who acted, which only operators can read. */
  operator?: ActingOperator
  /** User agent of the browser in which the user acted. By default that of the session that acts. */
  device?: string | undefined
}

const actingDevices = new WeakMap<Database, string>()

/** Names the browser in which a user acts in a transaction. Events that the transaction records contain it. */
export function setActingDevice(tx: Transaction, userAgent: string): void {
  actingDevices.set(tx, userAgent)
}

/**
 * Records an audit event, in the transaction of the action if there is one. Details contain no secrets and no user
 * content. An event of an organization gets a place in its trail later. Throws a `RangeError` for details without
 * canonical form, which could have no place there.
 */
export async function recordAuditEvent(db: Database | Transaction, audited: AuditEvent, now: Date): Promise<void> {
  await recordNamedEvent(db, audited, now)
}

/** Records an audit event like `recordAuditEvent`. Returns its ID. */
export async function recordNamedEvent(db: Database | Transaction, audited: AuditEvent, now: Date): Promise<string> {
  const eventId = createEventId()
  await store.insertAuditEvent(db, rowOf(db, eventId, audited, now))
  return eventId
}

/** An event that names neither an app nor an organization. */
type PlainEvent = Omit<AuditEvent, 'clientId' | 'organizationId'>

/** Records many audit events, 1,000 in a statement. */
export async function recordAuditEvents(tx: Transaction, audited: PlainEvent[], now: Date): Promise<void> {
  await store.insertAuditEvents(
    tx,
    audited.map((each) => rowOf(tx, createEventId(), each, now)),
  )
}

/** Records an audit event that has a place in the trail of its organization already. */
export async function recordPlacedEvent(tx: Transaction, eventId: string, audited: AuditEvent, now: Date) {
  await store.insertAuditEvent(tx, rowOf(tx, eventId, audited, now), { isPlaced: true })
}

function rowOf(db: Database | Transaction, eventId: string, audited: AuditEvent, now: Date) {
  const { operator } = audited
  return {
    event_id: eventId,
    occurred_at: now,
    action: audited.action,
    actor: audited.actor,
    user_id: audited.userId ?? null,
    identity_id: audited.identityId ?? null,
    client_id: audited.clientId ?? null,
    organization_id: audited.organizationId ?? null,
    details: writeCanonicalJson(audited.details ?? {}),
    operator_kind: operator?.kind ?? null,
    operator_id: operator && 'id' in operator ? operator.id : null,
    operator_name: operator && 'name' in operator ? operator.name : null,
    device: audited.actor === 'user' ? (audited.device ?? deviceIn(audited) ?? actingDevices.get(db) ?? null) : null,
    ...originOf(audited),
  }
}

/**
 * Returns where an event comes from. The ID of a request joins its events. What a user does, and what follows from it,
 * can concern several of their identities, which operators must not learn, so these events have none.
 */
function originOf({ actor, operator }: AuditEvent) {
  const origin = currentOrigin()
  const isNamed = operator !== undefined || actor === 'app'
  return { origin_network: origin?.network ?? null, origin_request_id: (isNamed && origin?.requestId) || null }
}

function deviceIn({ details = {} }: AuditEvent): string | undefined {
  return typeof details['device'] === 'string' ? details['device'] : undefined
}
