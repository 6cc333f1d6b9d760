import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, nullable, Uuid } from '../values.ts'

/** Operator who acted: an identity by its username, an admin token by its name, or ADMIN_TOKEN without either. */
export const AuditOperator = Type.Object({
  kind: Type.Enum(['operator', 'token', 'break_glass'], { type: 'string' }),
  id: nullable(Uuid),
  name: nullable(Type.String()),
})

export const AuditEvent = Type.Object({
  entryId: Uuid,
  at: Timestamp,
  action: Type.String(),
  actor: Type.String(),
  identityId: Type.Union([IdentityId, Type.Null()]),
  clientId: Type.Union([Type.String(), Type.Null()]),
  details: Type.Record(Type.String(), Type.Unknown()),
  operator: nullable(AuditOperator),
})
export type AuditEvent = Static<typeof AuditEvent>

/** An action, or a prefix of actions: `organization.member`. */
const action = Type.Optional(Type.String({ pattern: '^[a-z_.]{1,64}$' }))

export const listAuditEvents = endpoint(
  'GET /api/admin/audit',
  { security: 'admin', cors: 'auth host', permission: 'audit.read', summary: 'List the audit log, newest first' },
  {
    querystring: Type.Object({
      action,
      // `identity_id` is the identity that acts; generators of Go clients give `identityId` the same name.
      identity: Type.Optional(IdentityId),
      clientId: Type.Optional(ClientId),
      organizationId: Type.Optional(OrganizationId),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(AuditEvent), nextCursor: Type.Union([Uuid, Type.Null()]) }) },
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
      format: Type.Union([Type.Literal('csv'), Type.Literal('jsonl')]),
    }),
  },
  {
    200: Type.Unsafe<unknown>({
      type: 'string',
      description: 'Newest first',
      contentMediaType: 'text/csv, application/jsonl',
    }),
  },
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
