import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Instant, OrNull, Uuid } from '../values.ts'

export const AuditEntry = Type.Object({
  entryId: Uuid,
  at: Instant,
  action: Type.String(),
  actor: Type.String(),
  userId: Type.Union([Uuid, Type.Null()]),
  identityId: Type.Union([Uuid, Type.Null()]),
  clientId: Type.Union([Type.String(), Type.Null()]),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type AuditEntry = Static<typeof AuditEntry>

export const readAudit = endpoint(
  'GET /api/admin/audit',
  { security: 'admin', cors: 'no origin', summary: 'The audit log, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 unless given' })),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(AuditEntry), nextCursor: Type.Union([Uuid, Type.Null()]) }) },
)

/** What a member did in an organization, or what happened to it; who they are, as far as they are still here. */
export const OrganizationAuditEntry = Type.Object({
  entryId: Uuid,
  at: Instant,
  action: Type.String(),
  actor: Type.String(),
  identityId: OrNull(Uuid),
  handle: OrNull(Type.String()),
  clientId: OrNull(Type.String()),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type OrganizationAuditEntry = Static<typeof OrganizationAuditEntry>

const organization = { security: 'session', cors: 'our pages', host: 'business' } as const

/** One kind of act, or all whose names begin so: `organization.member`. */
const action = Type.Optional(Type.String({ pattern: '^[a-z_.]{1,64}$' }))

export const readOrganizationAudit = endpoint(
  'GET /api/organizations/:organizationId/audit',
  { ...organization, ssoSession: 'its organization', summary: 'The trail of an organization, newest first' },
  {
    params: Type.Object({ organizationId: Uuid }),
    querystring: Type.Object({
      identity_id: Type.Optional(Uuid),
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 unless given' })),
      action,
    }),
  },
  { 200: Type.Object({ entries: Type.Array(OrganizationAuditEntry), nextCursor: OrNull(Uuid) }) },
)

export const exportOrganizationAudit = endpoint(
  'GET /api/organizations/:organizationId/audit/export',
  {
    ...organization,
    ssoSession: 'its organization',
    summary: 'The whole trail of an organization as a file: CSV, or JSON lines',
  },
  {
    params: Type.Object({ organizationId: Uuid }),
    querystring: Type.Object({
      identity_id: Type.Optional(Uuid),
      action,
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
