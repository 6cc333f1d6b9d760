import { Type } from 'typebox'
import { endpoint, Nothing } from './endpoint.ts'
import { Identity } from './identities.ts'
import { Instant, Uuid } from './values.ts'

const session = { security: 'session', cors: 'our pages' } as const

export const readSession = endpoint(
  'GET /api/auth/session',
  { ...session, summary: 'Who is signed in' },
  {},
  {
    200: Type.Object({
      user: Type.Object({ userId: Uuid }),
      identities: Type.Array(Identity),
      authTime: Instant,
      authMethod: Type.Literal('passkey'),
      expiresAt: Instant,
    }),
  },
)

export const endSession = endpoint(
  'DELETE /api/auth/session',
  { ...session, summary: 'Sign out' },
  {},
  { 204: Nothing },
)
