import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { Identity } from './identities.ts'
import { Instant, Uuid } from '../values.ts'

const session = { security: 'session', cors: 'our pages' } as const

export const readSession = endpoint(
  'GET /api/auth/session',
  { ...session, ssoSession: 'its own session', summary: 'Who is signed in' },
  {},
  {
    200: Type.Object({
      user: Type.Object({ userId: Uuid }),
      identities: Type.Array(Identity),
      authTime: Instant,
      /** How long ago that was, by the server's clock. */
      secondsSinceAuthTime: Type.Integer(),
      authMethod: Type.Union([Type.Literal('passkey'), Type.Literal('enterprise_sso')], {
        description:
          'With enterprise_sso, an organization has signed the person in as one identity, and no passkey has',
      }),
      expiresAt: Instant,
    }),
  },
)

export const createBusinessToken = endpoint(
  'POST /api/auth/session/business',
  {
    ...session,
    ssoSession: 'its own session',
    summary: 'A bearer by which a page of the business host speaks for this session, there alone',
  },
  {},
  {
    201: Type.Object({
      businessToken: Type.String(),
      expiresInSeconds: Type.Integer({ description: 'It ends before where the session does' }),
    }),
  },
)

export const endSession = endpoint(
  'DELETE /api/auth/session',
  { ...session, ssoSession: 'its own session', summary: 'Sign out' },
  {},
  { 204: Nothing },
)

export const endHintedSession = endpoint(
  'POST /api/auth/session/end',
  {
    ...session,
    ssoSession: 'its own session',
    summary: 'Sign out because an app asks, by an ID token that it got in this session',
  },
  { body: Type.Object({ idTokenHint: Type.String({ maxLength: 16_384 }) }) },
  { 204: Nothing },
)

/** One of a person's sessions, as they may recognise it. */
export const SessionEntry = Type.Object({
  sessionId: Uuid,
  createdAt: Instant,
  lastSeenAt: Instant,
  userAgent: Type.Union([Type.String(), Type.Null()]),
  current: Type.Boolean({ description: 'Whether it is the one that asks' }),
})
export type SessionEntry = Static<typeof SessionEntry>

export const listSessions = endpoint(
  'GET /api/auth/sessions',
  { ...session, summary: 'Where I am signed in' },
  {},
  { 200: Type.Object({ sessions: Type.Array(SessionEntry) }) },
)

export const endSessionById = endpoint(
  'DELETE /api/auth/sessions/:sessionId',
  { ...session, summary: 'End one of my sessions' },
  { params: Type.Object({ sessionId: Uuid }) },
  { 204: Nothing },
)

export const endOtherSessions = endpoint(
  'DELETE /api/auth/sessions',
  { ...session, summary: 'End all of my sessions but this one' },
  {},
  { 204: Nothing },
)
