import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, nullable, Uuid, uuidPattern } from '../values.ts'

/** Operator who acted: an identity by its username, an admin or SCIM token by its name, or ADMIN_TOKEN. */
export const AuditOperator = Type.Object({
  kind: Type.Enum(['operator', 'token', 'scim', 'break_glass'], { type: 'string' }),
  id: nullable(Uuid),
  name: nullable(Type.String()),
})
export type AuditOperator = Static<typeof AuditOperator>

/**
 * Who acted. An identity is named by its present username, an app, an admin or SCIM token by its name at that time.
 * `id` is null for the service, for ADMIN_TOKEN, and for a user in an event of their whole account.
 */
export const AuditActor = Type.Object({
  kind: Type.Enum(['user', 'app', 'operator', 'token', 'scim', 'break_glass', 'system'], { type: 'string' }),
  id: nullable(Type.String()),
  name: nullable(Type.String()),
})
export type AuditActor = Static<typeof AuditActor>

/** What an action was done to. Identities and organizations have their present names, others the one at that time. */
export const AuditedObject = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  name: nullable(Type.String()),
})
export type AuditedObject = Static<typeof AuditedObject>

/** Place of an event in the audit log, from 1, without a gap. */
const Sequence = Type.Integer({ minimum: 1 })
const SequenceText = Type.String({ pattern: '^[1-9][0-9]{0,14}$' })

const result = Type.Enum(['success', 'failure'], { type: 'string' })

export const AuditEvent = Type.Object({
  sequence: Sequence,
  entryId: Uuid,
  at: Timestamp,
  action: Type.String(),
  result,
  actor: AuditActor,
  object: nullable(AuditedObject),
  identityId: nullable(IdentityId),
  clientId: nullable(Type.String()),
  organizationId: nullable(OrganizationId),
  address: nullable(Type.String({ description: 'Network of the request: a /24 of IPv4 or a /48 of IPv6' })),
  requestId: nullable(Uuid),
  personRef: nullable(
    Type.String({ description: 'Same in the events of one account that one reader reads of one day (UTC)' }),
  ),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type AuditEvent = Static<typeof AuditEvent>

/** An action, or a prefix of actions: `organization.member`. */
const action = Type.Optional(Type.String({ pattern: '^[a-z_.]{1,64}$' }))
const actor = Type.Optional(
  Type.String({
    pattern: `^(user|app|system|operator|token|scim|break_glass|${uuidPattern.slice(1, -1)})$`,
    description:
      'Who acted: a kind, of which `operator` includes `token`, `scim` and `break_glass`, or the `id` of such an actor',
  }),
)

/** Which events of the service to read. */
const selection = {
  action,
  actor,
  // `identity_id` is the identity that acts; generators of Go clients give `identityId` the same name.
  identity: Type.Optional(IdentityId),
  clientId: Type.Optional(ClientId),
  organizationId: Type.Optional(OrganizationId),
  result: Type.Optional(result),
}
const period = { from: Type.Optional(Timestamp), to: Type.Optional(Timestamp) }

export const listAuditEvents = endpoint(
  'GET /api/admin/audit',
  { security: 'admin', cors: 'auth host', permission: 'audit.read', summary: 'List the audit log, newest first' },
  {
    querystring: Type.Object({
      ...selection,
      ...period,
      cursor: Type.Optional(SequenceText),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(AuditEvent), nextCursor: nullable(Type.String()) }) },
)

const EventFile = Type.Unsafe<unknown>({
  type: 'string',
  description: 'Newest first',
  contentMediaType: 'text/csv, application/jsonl',
})
const fileFormat = Type.Union([Type.Literal('csv'), Type.Literal('jsonl')])

export const exportAuditLog = endpoint(
  'GET /api/admin/audit/export',
  {
    security: 'admin',
    cors: 'auth host',
    permission: 'audit.export',
    summary: 'Export the audit log of the service as a file: CSV, or JSON lines',
  },
  {
    querystring: Type.Object({
      ...selection,
      ...period,
      format: fileFormat,
    }),
  },
  { 200: EventFile },
)

/** A place, or 0 for the one before the first event. */
const PlaceBefore = Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$' })

export const streamAuditEvents = endpoint(
  'GET /api/admin/audit/stream',
  {
    security: 'admin',
    cors: 'auth host',
    permission: 'audit.read',
    summary: 'Follow the audit log: its events as server-sent events, oldest first',
  },
  {
    querystring: Type.Object({
      ...selection,
      after: Type.Optional(PlaceBefore),
      follow: Type.Optional(
        Type.Enum(['true', 'false'], { type: 'string', description: 'false: ends after the events that exist' }),
      ),
    }),
    headers: Type.Object({ 'last-event-id': Type.Optional(PlaceBefore) }),
  },
  {
    200: Type.Unsafe<unknown>({
      type: 'string',
      description: 'Each `data` is an event as in the list, and each `id` its place',
      contentMediaType: 'text/event-stream',
    }),
  },
)

/** Place of the audit log, with the hash of all events up to it. */
export const AuditChainPlace = Type.Object({
  sequence: Sequence,
  hash: Type.String({ description: 'SHA-256, base64' }),
})
export type AuditChainPlace = Static<typeof AuditChainPlace>

/** First place that is not as it was written. */
export const BrokenLink = Type.Object({
  sequence: Type.Integer({ minimum: 0 }),
  reason: Type.Enum(['missing', 'event_missing', 'event_changed', 'details_changed', 'head_differs'], {
    type: 'string',
  }),
})
export type BrokenLink = Static<typeof BrokenLink>

export const AuditChainState = Type.Object({
  checked: Type.Integer({ description: 'Number of events that are in order' }),
  erased: Type.Integer({ description: 'Number of these whose details were erased' }),
  last: nullable(AuditChainPlace),
  head: nullable(AuditChainPlace),
  checkpoint: nullable(AuditChainPlace),
  broken: nullable(BrokenLink),
  next: nullable(Type.String({ description: '`from` of the next request, or null at the end' })),
})
export type AuditChainState = Static<typeof AuditChainState>

export const verifyAuditLog = endpoint(
  'GET /api/admin/audit/verify',
  {
    security: 'admin',
    cors: 'auth host',
    permission: 'audit.read',
    summary: 'Verify that no event of the audit log was changed or removed, up to 1,000 at a time',
  },
  {
    querystring: Type.Object({
      from: Type.Optional(SequenceText),
      limit: Type.Optional(
        Type.String({ pattern: '^([1-9][0-9]{0,2}|1000)$', description: '1 to 1,000; the default is 500' }),
      ),
    }),
  },
  { 200: AuditChainState },
)

/** Audit event of an organization; actor and target are named if they still exist. */
export const OrganizationAuditEntry = Type.Object({
  entryId: Uuid,
  at: Timestamp,
  action: Type.String(),
  actor: Type.String(),
  identityId: nullable(IdentityId),
  handle: nullable(Type.String()),
  clientId: nullable(Type.String()),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type OrganizationAuditEntry = Static<typeof OrganizationAuditEntry>

/** Identity that events name by its ID, by its present names. */
export const NamedIdentity = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  avatarUrl: nullable(Type.String()),
})
export type NamedIdentity = Static<typeof NamedIdentity>

const organization = { security: 'session', cors: 'first party', host: 'business' } as const

const filter = {
  action,
  by: Type.Optional(IdentityId),
  from: Type.Optional(Timestamp),
  before: Type.Optional(Timestamp),
}

export const listOrganizationAuditEvents = endpoint(
  'GET /api/organizations/:organizationId/audit',
  { ...organization, ssoSession: 'its organization', summary: 'List the audit log of an organization, newest first' },
  {
    params: Type.Object({ organizationId: OrganizationId }),
    querystring: Type.Object({
      identity_id: Type.Optional(IdentityId),
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
      ...filter,
    }),
  },
  {
    200: Type.Object({
      entries: Type.Array(OrganizationAuditEntry),
      nextCursor: nullable(Uuid),
      people: Type.Array(NamedIdentity),
    }),
  },
)

export const exportOrganizationAuditLog = endpoint(
  'GET /api/organizations/:organizationId/audit/export',
  {
    ...organization,
    ssoSession: 'its organization',
    summary: 'Export the whole audit log of an organization as a file: CSV, or JSON lines',
  },
  {
    params: Type.Object({ organizationId: OrganizationId }),
    querystring: Type.Object({
      identity_id: Type.Optional(IdentityId),
      ...filter,
      format: fileFormat,
    }),
  },
  { 200: EventFile },
)

export const exportOrganizationTrail = endpoint(
  'GET /api/organizations/:organizationId/trail',
  {
    ...organization,
    ssoSession: 'its organization',
    summary: 'Export the trail of an organization: its audit events as a chain of hashes, as JSON lines',
  },
  {
    params: Type.Object({ organizationId: OrganizationId }),
    querystring: Type.Object({
      identity_id: Type.Optional(IdentityId),
      after: Type.Optional(
        Type.String({ pattern: '^(0|[1-9][0-9]{0,8})$', description: 'Number of the entry before the first one' }),
      ),
      to: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'Number of the last entry' })),
    }),
  },
  {
    200: Type.Unsafe<unknown>({
      type: 'string',
      description: 'Oldest first',
      contentMediaType: 'application/jsonl',
    }),
  },
)
