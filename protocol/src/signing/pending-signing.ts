import { Type, type Static } from 'typebox'
import { pageOf, PendingCursor } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { SigningRequests } from './signing.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid } from '../values.ts'

const ofOrganization = { security: 'session', cors: 'first party', ssoSession: 'its organization' } as const
const page = pageOf(limits.signingPageMax, PendingCursor)
const NextCursor = Type.Optional(PendingCursor)

export const listSigningRequests = endpoint(
  'GET /api/signing/requests',
  {
    ...ofOrganization,
    summary:
      'List the pending signing requests for my identities and organizations: those of connected apps first, ' +
      'ordered by expiry',
  },
  { querystring: page },
  { 200: Type.Object({ requests: SigningRequests, nextCursor: NextCursor }) },
)

/** Pending request with the title of its text. */
export const PendingRequest = Type.Object({
  requestId: Uuid,
  identityId: IdentityId,
  handle: Type.String(),
  app: Type.Object({ clientId: Type.String(), name: Type.String() }),
  title: Type.String({ description: 'First line of the text, shortened; empty if there is none near its beginning' }),
  connected: Type.Boolean({ description: 'Whether the identity, or the organization, has connected the app' }),
  expiresAt: Timestamp,
  organization: Type.Optional(Type.Object({ id: OrganizationId, name: Type.String() })),
})
export type PendingRequest = Static<typeof PendingRequest>

export const readPendingRequests = endpoint(
  'GET /api/signing/pending',
  {
    ...ofOrganization,
    summary: 'Count and list the pending signing requests, in the same order, with titles instead of texts',
  },
  { querystring: page },
  {
    200: Type.Object({
      count: Type.Integer({ description: 'Number of pending requests on all pages' }),
      identities: Type.Array(Type.Object({ identityId: IdentityId, count: Type.Integer() }), {
        description: 'Number of them for each of my identities: a new signing key expires these',
      }),
      requests: Type.Array(PendingRequest),
      nextCursor: NextCursor,
    }),
  },
)
