import { Type, type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { Instant, Uuid } from './values.ts'

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
