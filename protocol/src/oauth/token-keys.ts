import { Type, type Static } from 'typebox'
import { Algorithm } from '../clients/apps.ts'
import { endpoint, orNoBody } from '../endpoint.ts'
import { Instant } from '../values.ts'

/** Published and not signing yet; signing; or retired: it signs no more, and verifies what it signed. */
export const SigningKeyState = Type.Union([Type.Literal('published'), Type.Literal('signing'), Type.Literal('retired')])
export type SigningKeyState = Static<typeof SigningKeyState>

/** The keys that are in the key set (JWKS). */
export const SigningKeyList = Type.Object({
  keys: Type.Array(
    Type.Object({
      kid: Type.String(),
      algorithm: Algorithm,
      state: SigningKeyState,
      createdAt: Instant,
      signsAt: Instant,
      publishedUntil: Type.Union([Instant, Type.Null()]),
    }),
  ),
})
export type SigningKeyList = Static<typeof SigningKeyList>

const admin = { security: 'admin', cors: 'no origin' } as const

export const listTokenSigningKeys = endpoint(
  'GET /api/admin/keys',
  { ...admin, summary: 'List the keys that sign tokens' },
  {},
  { 200: SigningKeyList },
)

export const rotateTokenSigningKeys = endpoint(
  'POST /api/admin/keys/rotate',
  { ...admin, summary: 'Publish new keys, which sign tokens after two hours, or at once' },
  {
    body: orNoBody(Type.Object({ atOnce: Type.Optional(Type.Boolean()) }, { additionalProperties: false })),
  },
  { 201: SigningKeyList },
)
