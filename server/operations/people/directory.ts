import type { AdminIdentity, AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { type IdentityOrder, type IdentityStatus, peopleSearch } from '@countersign/protocol/operations/people-search'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { isUuid } from '@countersign/protocol/values'
import { fold, lengthOf, wordsOf } from '#accounts/identities/terms/term.ts'
import { auditFieldsOf, type Operator, operatorKeyOf } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent, recordIdentityView } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { readInstant } from '#platform/http/instant.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Count, readCursor, writeCursor } from './cursor.ts'
import type { IdentityEntryRow } from './entry-store.ts'
import { type Filter, type Filtering, findGroupIds, type SmallSet } from './filter-store.ts'
import * as listStore from './list-store.ts'
import * as store from './store.ts'

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this ID.'],
  invalid_request: [400, 'The request is malformed.'],
})

const sentences = {
  words: 'q has up to four words, of which one has two characters or more.',
  sort: 'sort cannot be combined with q: results are in the order of the found words.',
  cursor: 'cursor must be the nextCursor of a page with the same q, filters and sort.',
}

/** Query of a list, as the schema has found it valid. */
export type PeopleQuery = {
  q?: string
  emailDomain?: string
  group?: string
  organization?: OrganizationId
  status?: IdentityStatus
  managedBy?: string
  createdFrom?: string
  createdTo?: string
  lastSeenFrom?: string
  lastSeenTo?: string
  sort?: IdentityOrder
  limit?: string
  cursor?: string
}

type PeoplePage = { identities: AdminIdentity[]; nextCursor: string | null } & Count

const identitiesDefault = 50
/** Rows that a page reads: some 20 ms of processor time. The embedded database takes longer for each. */
const rowsMaxes = { postgres: 2000, embedded: 700 }

/**
 * Lists a page of identities, and records in the audit log what the operator looked for. Throws `invalid_request`,
 * `rate_limited`.
 */
export async function listIdentities(
  { config, db, keyring, rateLimits }: ServerContext,
  operator: Operator,
  { limit, cursor, ...query }: PeopleQuery,
  now: Date,
): Promise<PeoplePage> {
  await rateLimits.count('identity-lists-per-operator', operatorKeyOf(operator))
  if (query.q !== undefined && query.sort !== undefined) throw errors.invalid_request({ sentence: sentences.sort })
  const known = knownOf(query)
  const question = JSON.stringify(known)
  const start = cursor === undefined ? undefined : readCursor(keyring, question, cursor)
  if (cursor !== undefined && !start) throw errors.invalid_request({ sentence: sentences.cursor })

  const filter = filterOf(query)
  const size = Number(limit ?? identitiesDefault)
  const { sort: order = '-createdAt' } = query
  const rowsMax = config.databaseUrl ? rowsMaxes.postgres : rowsMaxes.embedded
  const groupIds = await findGroupIds(db, filter.group)
  const limited = { filter, groupIds, rowsMax, now, inShards: isDistributed(db) }
  const listing = { ...limited, order, size, after: start, driver: await driverOf(db, query.q, limited) }
  const page = await listStore.listPage(db, listing)
  const counted = start ?? (await countOf(db, listing, page))
  const shown = page.rows.slice(0, size)
  const end = page.rows.length > size ? shown.at(-1) : page.isExhausted ? undefined : page.stop
  const { count, countIs } = counted
  const event = {
    action: 'identities.listed',
    ...auditFieldsOf(operator),
    details: { ...known, count },
  } as const
  await recordAuditEvent(db, event, now)
  return {
    identities: shown.map(toAdminIdentity),
    nextCursor: end ? writeCursor(keyring, question, { ...end, count, countIs }) : null,
    count,
    countIs,
  }
}

/**
 * Returns the known parameters of a query, in one order. A request may have others, which neither the audit log nor a
 * cursor depends on.
 */
function knownOf({ q, emailDomain, group, organization, status, managedBy, sort, ...times }: PeopleQuery) {
  const { createdFrom, createdTo, lastSeenFrom, lastSeenTo } = times
  const restrictions = { emailDomain, group, organization, status, managedBy }
  const known = { q, ...restrictions, createdFrom, createdTo, lastSeenFrom, lastSeenTo, sort }
  return Object.fromEntries(Object.entries(known).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Counts the matches among the rows that the first page read, or all rows if every one matches. */
async function countOf(db: Database, listing: listStore.Listing, page: listStore.ListedPage): Promise<Count> {
  if (page.isExhausted) return { count: page.matches, countIs: 'exact' }
  if (listStore.isRestricted(listing)) return { count: page.matches, countIs: 'at_least' }
  const count = await listStore.countBounded(db, listing, peopleSearch.countMax + 1)
  const isCapped = count > peopleSearch.countMax
  return { count: isCapped ? peopleSearch.countMax : count, countIs: isCapped ? 'at_least' : 'exact' }
}

/** Decides what a page reads. Throws `invalid_request` for a search without usable words. */
async function driverOf(
  db: Database,
  q: string | undefined,
  limited: Filtering & Pick<listStore.Listing, 'rowsMax'>,
): Promise<listStore.Driver> {
  if (q !== undefined) return searchOf(q)
  for (const set of setsOf(limited.filter)) if (await listStore.isSmallSet(db, set, limited)) return { set }
  return 'order'
}

function setsOf({ group, organization, status, domain, managedBy }: Filter): SmallSet[] {
  return [
    ...(group === undefined ? [] : (['group'] as const)),
    ...(organization === undefined ? [] : (['organization'] as const)),
    ...(status === undefined || status === 'active' || status === 'invited' ? [] : [status]),
    ...(domain === undefined ? [] : (['domain'] as const)),
    ...(managedBy === undefined || managedBy === 'self' ? [] : (['directory'] as const)),
  ]
}

function searchOf(q: string): listStore.Driver {
  const id = q.trim().toLowerCase()
  if (isUuid(id)) return { identityId: asId<IdentityId>(id) }
  const words = wordsOf(q).toSorted((one, other) => lengthOf(other) - lengthOf(one))
  const isUsable = words.length <= peopleSearch.wordsMax && lengthOf(words[0] ?? '') >= peopleSearch.wordCharactersMin
  if (!isUsable) throw errors.invalid_request({ sentence: sentences.words })
  return { words }
}

function filterOf({ emailDomain, createdFrom, createdTo, ...given }: PeopleQuery): Filter {
  const { group, organization, status, managedBy, lastSeenFrom, lastSeenTo } = given
  return {
    domain: emailDomain === undefined ? undefined : fold(`@${emailDomain.replace(/^@/, '')}`),
    group,
    organization,
    status,
    createdFrom: createdFrom === undefined ? undefined : readInstant(createdFrom),
    createdTo: createdTo === undefined ? undefined : readInstant(createdTo),
    ...{ managedBy, lastSeenFrom, lastSeenTo },
  }
}

/** Gets an identity, and records the look. Throws `identity_not_found`. */
export async function getIdentity(
  { db }: ServerContext,
  operator: Operator,
  identityId: IdentityId,
  now: Date,
): Promise<AdminIdentityDetails> {
  await recordView(db, operator, identityId, now)
  return readDetails(db, identityId, now)
}

/** Reads an identity with facts of its account; an invited one has none. Throws `identity_not_found`. */
export async function readDetails(db: Database, identityId: IdentityId, now: Date): Promise<AdminIdentityDetails> {
  // In this order: one that is accepted in between is found.
  const found = (await store.findInvited(db, identityId)) ?? (await store.findIdentity(db, identityId, now))
  if (!found) throw errors.identity_not_found()
  const { hasPasskey, hasRecoveryCode, hasSigningKey, version, ...entry } = found
  const createdAt = entry.createdAt.toISOString()
  const suspensions = found.suspensions.map(({ suspendedAt, until, ...each }) => ({
    ...each,
    suspendedAt: new Date(suspendedAt).toISOString(),
    until: until === null ? null : new Date(until).toISOString(),
  }))
  const facts = { hasPasskey, hasRecoveryCode, hasSigningKey, suspensions, version }
  return { ...toAdminIdentity({ ...entry, createdAt }), ...facts }
}

/**
 * Records that an operator looks at an identity, once in ten minutes for each operator. The user sees it in their
 * activity. Throws `identity_not_found`.
 */
export async function recordView(db: Database, operator: Operator, identityId: IdentityId, now: Date): Promise<void> {
  if (!(await recordIdentityView(db, auditFieldsOf(operator), identityId, now))) throw errors.identity_not_found()
}

export function toAdminIdentity(row: IdentityEntryRow): AdminIdentity {
  const act = row.deletion ?? row.suspension ?? row.recovery
  return {
    identityId: row.identityId,
    handle: row.handle,
    displayName: row.displayName,
    avatarUrl: row.avatarUrl,
    email: row.email,
    emailVerified: row.emailVerified,
    status: statusOf(row),
    statusReason: act?.reason ?? null,
    statusAt: act ? new Date(act.at).toISOString() : null,
    deletionDueAt: row.deletion ? new Date(row.deletion.dueAt).toISOString() : null,
    managedBy: row.managedBy,
    createdAt: new Date(row.createdAt).toISOString(),
    lastSeenOn: row.lastSeenOn,
    groups: row.groups,
    organizations: row.organizations,
  }
}

function statusOf({ isInvited, deletion, suspension, recovery }: IdentityEntryRow): IdentityStatus {
  if (isInvited) return 'invited'
  if (deletion) return 'deletion_scheduled'
  if (suspension) return 'suspended'
  return recovery ? 'recovering' : 'active'
}
