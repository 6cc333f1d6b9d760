import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { Identity } from './identities.ts'
import { RecoveryCodeState } from './keys.ts'
import { SessionId, UserId } from '../ids.ts'
import { CredentialId, Timestamp } from '../values.ts'

const session = { security: 'session', cors: 'first party' } as const
const ownSession = { ssoSession: 'its own session', recoveredSession: true } as const

/**
 * Header of a request with a session, as an option: the ID of the user that it is for, as `GET /api/auth/session`
 * returns it. If the session is of another user, the answer is 409 `session_changed`, and nothing happens.
 */
export const shownUserHeader = 'countersign-user'

const AuthMethod = Type.Union(
  [Type.Literal('passkey'), Type.Literal('enterprise_sso'), Type.Literal('recovered_passkey')],
  {
    description:
      'With enterprise_sso, an organization has signed the user in as one identity, without a passkey. With ' +
      'recovered_passkey, a recovery link brought the passkey, which is limited to one identity',
  },
)

export const CurrentSession = Type.Object({
  user: Type.Object(
    { userId: UserId },
    { description: 'With enterprise_sso, userId is the ID of the identity: the account is not known' },
  ),
  identities: Type.Array(Identity),
  authTime: Timestamp,
  /** Seconds since then, by the server's clock. */
  secondsSinceAuthTime: Type.Integer(),
  authMethod: AuthMethod,
  expiresAt: Timestamp,
  recoveryCode: Type.Optional(RecoveryCodeState),
  holdUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'With recovered_passkey: until then, another passkey of the account undoes the recovery',
    }),
  ),
})
export type CurrentSession = Static<typeof CurrentSession>

export const getSession = endpoint(
  'GET /api/auth/session',
  { ...session, ...ownSession, summary: 'Get the current session' },
  {},
  { 200: CurrentSession },
)

export const findSession = endpoint(
  'GET /api/auth/session/current',
  {
    security: 'none',
    cors: 'first party',
    ...ownSession,
    summary: 'Get the current session, or null if there is none',
  },
  {},
  { 200: Type.Object({ session: Type.Union([CurrentSession, Type.Null()]) }) },
)

export const createBusinessToken = endpoint(
  'POST /api/auth/session/business',
  {
    ...session,
    ssoSession: 'its own session',
    summary: 'Create a short-lived bearer token for the business host',
  },
  {},
  {
    201: Type.Object({
      businessToken: Type.String(),
      expiresInSeconds: Type.Integer({ description: 'The token ends earlier if the session does' }),
    }),
  },
)

export const signOut = endpoint(
  'DELETE /api/auth/session',
  { ...session, ...ownSession, summary: 'Sign out' },
  {},
  { 204: NoContent },
)

export const signOutByIdTokenHint = endpoint(
  'POST /api/auth/session/end',
  {
    ...session,
    ...ownSession,
    summary: 'Sign out with an ID token hint (RP-initiated logout)',
  },
  { body: Type.Object({ idTokenHint: Type.String({ maxLength: 16_384 }) }) },
  { 204: NoContent },
)

/** Session of a user, with the data to recognize it. */
export const SessionEntry = Type.Object({
  sessionId: SessionId,
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  userAgent: Type.Union([Type.String(), Type.Null()]),
  current: Type.Boolean({ description: 'Whether this is the current session' }),
  authMethod: Type.Optional(AuthMethod),
  passkey: Type.Optional(
    Type.Union([Type.Object({ credentialId: CredentialId, name: Type.String() }), Type.Null()], {
      description: 'Passkey that opened the session',
    }),
  ),
})
export type SessionEntry = Static<typeof SessionEntry>

export const listSessions = endpoint(
  'GET /api/auth/sessions',
  { ...session, summary: 'List my sessions' },
  {},
  { 200: Type.Object({ sessions: Type.Array(SessionEntry) }) },
)

export const revokeSession = endpoint(
  'DELETE /api/auth/sessions/:sessionId',
  { ...session, summary: 'Revoke one of my sessions' },
  { params: Type.Object({ sessionId: SessionId }) },
  { 204: NoContent },
)

export const revokeOtherSessions = endpoint(
  'DELETE /api/auth/sessions',
  { ...session, summary: 'Revoke all of my sessions except the current one' },
  {},
  { 204: NoContent },
)
