import { Type, type Static } from 'typebox'
import { pageOf, PendingCursor } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { SigningRequests } from './signing.ts'
import { Instant, Uuid } from '../values.ts'

const ofOrganization = { security: 'session', cors: 'our pages', ssoSession: 'its organization' } as const
const page = pageOf(limits.signingPageMax, PendingCursor)
const NextCursor = Type.Optional(PendingCursor)

export const listSigningRequests = endpoint(
  'GET /api/signing/requests',
  {
    ...ofOrganization,
    summary:
      'The requests that wait for me, for an identity or for an organization: those of connected apps first, and of ' +
      'these the first that expires',
  },
  { querystring: page },
  { 200: Type.Object({ requests: SigningRequests, nextCursor: NextCursor }) },
)

/** A request that waits, without its text. */
export const PendingRequest = Type.Object({
  requestId: Uuid,
  identityId: Uuid,
  handle: Type.String(),
  app: Type.Object({ clientId: Type.String(), name: Type.String() }),
  connected: Type.Boolean({ description: 'Whether the identity, or the organization, has connected the app' }),
  expiresAt: Instant,
  organization: Type.Optional(Type.Object({ id: Uuid, name: Type.String() })),
})
export type PendingRequest = Static<typeof PendingRequest>

export const readPendingRequests = endpoint(
  'GET /api/signing/pending',
  { ...ofOrganization, summary: 'How many requests wait for me, and which, in the same order, without their texts' },
  { querystring: page },
  {
    200: Type.Object({
      count: Type.Integer({ description: 'How many wait, on all pages' }),
      identities: Type.Array(Type.Object({ identityId: Uuid, count: Type.Integer() }), {
        description: 'How many of them are for an identity of mine: a new signing key ends these',
      }),
      requests: Type.Array(PendingRequest),
      nextCursor: NextCursor,
    }),
  },
)
