import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId } from '../ids.ts'
import { Timestamp } from '../values.ts'

const managing = {
  security: 'admin',
  cors: 'auth host',
  permission: 'people.delete',
  recentAuthentication: true,
} as const
const params = Type.Object({ identityId: IdentityId })

/** Deletion of an identity by the operator. Nothing in it tells which other identities the account has. */
export const IdentityDeletion = Type.Object({
  identityId: IdentityId,
  reason: Type.String(),
  scheduledAt: Timestamp,
  dueAt: Type.String({ format: 'date-time', description: 'When the identity is deleted' }),
})
export type IdentityDeletion = Static<typeof IdentityDeletion>

export const NewIdentityDeletion = Type.Object(
  {
    confirm: Type.String({ minLength: 1, maxLength: 100, description: 'The username of the identity' }),
    reason: Type.String({ minLength: 1, maxLength: 2000, description: '1 to 500 characters, shown to the user' }),
    scope: Type.Optional(Type.Literal('identity', { description: 'This identity alone' })),
    retainDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.deletionRetainDaysMax,
        description: 'Days in which the identity can be restored; the default is 7. 0 requires `legalErasure`',
      }),
    ),
    legalErasure: Type.Optional(
      Type.Boolean({ description: 'The law requires the deletion: it can be at once, and then cannot be undone' }),
    ),
  },
  { additionalProperties: false },
)
export type NewIdentityDeletion = Static<typeof NewIdentityDeletion>

export const deleteAdminIdentity = endpoint(
  'DELETE /api/admin/identities/:identityId',
  { ...managing, summary: 'Suspend an identity and schedule its deletion' },
  { params, body: NewIdentityDeletion },
  { 200: IdentityDeletion },
)

export const restoreAdminIdentity = endpoint(
  'POST /api/admin/identities/:identityId/restore',
  { ...managing, summary: 'Undo the scheduled deletion of an identity' },
  { params },
  { 204: NoContent },
)
