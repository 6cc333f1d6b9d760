import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { IdentityId } from '../ids.ts'
import { OptionalIfMatch, Timestamp, nullable } from '../values.ts'

const managing = {
  security: 'admin',
  cors: 'auth host',
  permission: 'people.suspend',
  recentAuthentication: true,
} as const
const params = Type.Object({ identityId: IdentityId })

/** What an operator acts on: the whole account of an identity, or the identity alone. */
export const Scope = Type.Union([Type.Literal('account'), Type.Literal('identity')], {
  description: 'The whole account (default), or this identity alone',
})
export type SuspensionScope = Static<typeof Scope>

/** Suspension through an identity. Nothing in it tells which other identities the account has. */
export const Suspension = Type.Object({
  identityId: IdentityId,
  scope: Scope,
  reason: Type.String(),
  suspendedAt: Timestamp,
  until: nullable(Timestamp),
})
export type Suspension = Static<typeof Suspension>

export const NewSuspension = Type.Object(
  {
    reason: Type.String({ minLength: 1, maxLength: 2000, description: '1 to 500 characters, shown to the user' }),
    scope: Type.Optional(Scope),
    until: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
)
export type NewSuspension = Static<typeof NewSuspension>

export const suspendIdentity = endpoint(
  'POST /api/admin/identities/:identityId/suspension',
  { ...managing, summary: 'Suspend an identity or its account' },
  { params, headers: OptionalIfMatch, body: NewSuspension },
  { 200: Suspension },
)

export const activateIdentity = endpoint(
  'DELETE /api/admin/identities/:identityId/suspension',
  { ...managing, summary: 'Activate a suspended identity' },
  { params },
  { 204: NoContent },
)

export const signOutIdentity = endpoint(
  'POST /api/admin/identities/:identityId/sign-out',
  { ...managing, summary: 'Sign an identity or its account out' },
  { params, body: Type.Object({ scope: Type.Optional(Scope) }, { additionalProperties: false }) },
  { 204: NoContent },
)
