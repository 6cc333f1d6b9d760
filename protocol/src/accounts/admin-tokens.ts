import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { tokenPermissions } from '../formats/registries/permissions.ts'
import { IdentityId } from '../ids.ts'
import { nullable, Timestamp, Uuid } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'tokens.read' } as const
const managing = { ...reading, permission: 'tokens.manage', recentAuthentication: true } as const

const TokenPermission = Type.Enum([...tokenPermissions], { type: 'string' })
const Network = Type.String({ maxLength: 60, description: 'Address, or network such as 192.0.2.0/24' })

/** Token by which a program calls the admin API. */
export const AdminToken = Type.Object({
  tokenId: Uuid,
  name: Type.String(),
  permissions: Type.Array(TokenPermission),
  networks: Type.Array(Type.String(), { description: 'Networks in which it is accepted; none for every network' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  previousUntil: nullable(
    Type.Unsafe<string>({ ...Timestamp, description: 'Until when the secret before the last rotation is accepted' }),
  ),
  lastUsedAt: nullable(Type.Unsafe<string>({ ...Timestamp, description: 'To the hour' })),
  lastUsedAddress: nullable(Type.String()),
  createdBy: nullable(
    Type.Unsafe<IdentityId>({ ...IdentityId, description: 'The operator whose rights limit it; null for ADMIN_TOKEN' }),
  ),
})
export type AdminToken = Static<typeof AdminToken>

/** Token with its secret, which no later answer contains. */
export const NewAdminToken = Type.Object({ token: Type.String(), adminToken: AdminToken })
export type NewAdminToken = Static<typeof NewAdminToken>

const ByToken = Type.Object({ tokenId: Uuid })

export const listAdminTokens = endpoint(
  'GET /api/admin/tokens',
  { ...reading, summary: 'List the admin tokens, newest first' },
  {},
  { 200: Type.Object({ tokens: Type.Array(AdminToken) }) },
)

export const createAdminToken = endpoint(
  'POST /api/admin/tokens',
  { ...managing, summary: 'Create an admin token' },
  {
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 80 }),
      permissions: Type.Array(TokenPermission, { minItems: 1, uniqueItems: true }),
      networks: Type.Optional(Type.Array(Network, { maxItems: limits.adminTokenNetworksMax })),
      expiresAt: Type.Optional(
        Type.Unsafe<string>({ ...Timestamp, description: 'At most 366 days from now; the default is 90 days' }),
      ),
    }),
  },
  { 201: NewAdminToken },
)

export const rotateAdminToken = endpoint(
  'POST /api/admin/tokens/:tokenId/rotate',
  { ...managing, summary: 'Replace the secret of an admin token, and extend it by its lifetime' },
  {
    params: ByToken,
    body: Type.Object({
      graceSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.adminTokenGraceSecondsMax,
          description: 'How long the replaced secret is still accepted; the default is 0',
        }),
      ),
    }),
  },
  { 200: NewAdminToken },
)

export const revokeAdminToken = endpoint(
  'DELETE /api/admin/tokens/:tokenId',
  { ...managing, summary: 'Revoke an admin token' },
  { params: ByToken },
  { 204: NoContent },
)
