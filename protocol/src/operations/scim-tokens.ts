import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { IdentityId } from '../ids.ts'
import { nullable, Timestamp, Uuid } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'tokens.read' } as const
const managing = { ...reading, permission: 'tokens.manage', recentAuthentication: true } as const

/** Token by which a directory provisions users and groups of the service by SCIM. */
export const ScimToken = Type.Object({
  tokenId: Uuid,
  name: Type.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastUsedAt: nullable(Type.Unsafe<string>({ ...Timestamp, description: 'To the hour' })),
  createdBy: nullable(
    Type.Unsafe<IdentityId>({
      ...IdentityId,
      description: 'The operator by whose rights it acts; null for ADMIN_TOKEN',
    }),
  ),
})
export type ScimToken = Static<typeof ScimToken>

/** Token with its secret, which no later answer contains, and the base URL of SCIM. */
export const NewScimToken = Type.Object({ token: Type.String(), url: Type.String(), scimToken: ScimToken })
export type NewScimToken = Static<typeof NewScimToken>

const ByToken = Type.Object({ tokenId: Uuid })

export const listScimTokens = endpoint(
  'GET /api/admin/scim-tokens',
  { ...reading, summary: 'List the SCIM tokens, newest first' },
  {},
  { 200: Type.Object({ tokens: Type.Array(ScimToken) }) },
)

export const createServiceScimToken = endpoint(
  'POST /api/admin/scim-tokens',
  { ...managing, summary: 'Create a SCIM token' },
  {
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 80 }),
      expiresAt: Type.Optional(
        Type.Unsafe<string>({ ...Timestamp, description: 'At most 366 days from now, which is the default' }),
      ),
    }),
  },
  { 201: NewScimToken },
)

export const rotateScimToken = endpoint(
  'POST /api/admin/scim-tokens/:tokenId/rotate',
  { ...managing, summary: 'Replace the secret of a SCIM token, and extend it by its lifetime' },
  { params: ByToken },
  { 200: NewScimToken },
)

export const deleteServiceScimToken = endpoint(
  'DELETE /api/admin/scim-tokens/:tokenId',
  { ...managing, summary: 'Delete a SCIM token. What it manages stays, and is managed by users and operators' },
  { params: ByToken },
  { 204: NoContent },
)
