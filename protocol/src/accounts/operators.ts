import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { operatorRoles, permissions } from '../formats/registries/permissions.ts'
import { IdentityId } from '../ids.ts'
import { nullable, Timestamp } from '../values.ts'
import { Handle } from './identities.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'operators.read' } as const
const managing = { ...reading, permission: 'operators.manage', recentAuthentication: true } as const

const OperatorRole = Type.Enum([...operatorRoles], { type: 'string' })

/** Identity with a role in the administration of the service. */
export const Operator = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  role: OperatorRole,
  grantedAt: Timestamp,
  grantedBy: nullable(
    Type.Unsafe<IdentityId>({ ...IdentityId, description: 'The operator who granted the role; null for ADMIN_TOKEN' }),
  ),
})
export type Operator = Static<typeof Operator>

export const listOperators = endpoint(
  'GET /api/admin/operators',
  { ...reading, summary: 'List the operators' },
  {},
  { 200: Type.Object({ operators: Type.Array(Operator) }) },
)

export const addOperator = endpoint(
  'POST /api/admin/operators',
  { ...managing, summary: 'Make an identity an operator' },
  { body: Type.Object({ handle: Handle, role: OperatorRole }) },
  { 201: Operator },
)

export const updateOperator = endpoint(
  'PATCH /api/admin/operators/:identityId',
  { ...managing, summary: 'Change the role of an operator' },
  {
    params: Type.Object({ identityId: IdentityId }),
    body: Type.Object({
      role: OperatorRole,
      tokens: Type.Optional(
        Type.Enum(['revoke', 'keep'], {
          type: 'string',
          description: 'What happens to the admin tokens of the operator; the default is revoke',
        }),
      ),
    }),
  },
  { 200: Operator },
)

export const removeOperator = endpoint(
  'DELETE /api/admin/operators/:identityId',
  { ...managing, summary: 'Remove an operator' },
  {
    params: Type.Object({ identityId: IdentityId }),
    querystring: Type.Object({
      tokens: Type.Optional(
        Type.Enum(['revoke', 'keep'], {
          type: 'string',
          description: 'With keep, the admin tokens of the operator pass to the caller; the default is revoke',
        }),
      ),
    }),
  },
  { 204: NoContent },
)

/** Identity of the user that is an operator, with what its role may do now. */
export const OwnOperator = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  role: OperatorRole,
  permissions: Type.Array(Type.Enum([...permissions], { type: 'string' })),
})
export type OwnOperator = Static<typeof OwnOperator>

export const listOwnOperators = endpoint(
  'GET /api/account/operators',
  { security: 'session', cors: 'first party', summary: 'List my identities that are operators' },
  {},
  { 200: Type.Object({ operators: Type.Array(OwnOperator) }) },
)

const SetupToken = Type.String({ maxLength: 200, writeOnly: true, description: 'Secret of the setup link' })

export const checkSetupLink = endpoint(
  'POST /api/setup/check',
  { security: 'none', cors: 'first party', summary: 'Check whether a setup link can still be used' },
  { body: Type.Object({ setup: SetupToken }) },
  { 204: NoContent },
)

export const becomeOwner = endpoint(
  'POST /api/setup',
  { security: 'session', cors: 'first party', summary: 'Become the owner by the setup link, as one of my identities' },
  { body: Type.Object({ setup: SetupToken, identityId: IdentityId }) },
  { 204: NoContent },
)
