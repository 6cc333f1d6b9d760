import { Type, type Static } from 'typebox'
import { Algorithm } from '../clients/apps.ts'
import { endpoint, optionalBody } from '../endpoint.ts'
import { Timestamp } from '../values.ts'

/**
 * State of a token-signing key: published but not signing yet; signing; or retired, which only verifies earlier tokens.
 */
export const SigningKeyState = Type.Union([Type.Literal('published'), Type.Literal('signing'), Type.Literal('retired')])
export type SigningKeyState = Static<typeof SigningKeyState>

/** Keys in the key set (JWKS). */
export const SigningKeyList = Type.Object({
  keys: Type.Array(
    Type.Object({
      kid: Type.String(),
      algorithm: Algorithm,
      state: SigningKeyState,
      createdAt: Timestamp,
      activatesAt: Timestamp,
      publishedUntil: Type.Union([Timestamp, Type.Null()]),
    }),
  ),
})
export type SigningKeyList = Static<typeof SigningKeyList>

const reading = { security: 'admin', cors: 'auth host', permission: 'keys.read' } as const
const managing = { ...reading, permission: 'keys.manage', recentAuthentication: true } as const

export const listTokenSigningKeys = endpoint(
  'GET /api/admin/keys',
  { ...reading, summary: 'List the token-signing keys' },
  {},
  { 200: SigningKeyList },
)

export const rotateTokenSigningKeys = endpoint(
  'POST /api/admin/keys/rotate',
  { ...managing, summary: 'Publish new token-signing keys, which sign after two hours, or at once' },
  {
    body: optionalBody(Type.Object({ atOnce: Type.Optional(Type.Boolean()) }, { additionalProperties: false })),
  },
  { 201: SigningKeyList },
)
