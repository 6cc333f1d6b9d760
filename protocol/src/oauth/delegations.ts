import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { ClientId, Instant, OrNull, Uuid } from '../values.ts'

const session = { security: 'session', cors: 'our pages' } as const

/** When the source app may act: within the hour after the person proved to be there, or also without them. */
export const CommunicationMode = Type.Union([Type.Literal('user_present'), Type.Literal('background')])
export type CommunicationMode = Static<typeof CommunicationMode>

/** That one app, the source, may act at a resource of another, the target, as an identity. */
export const Delegation = Type.Object({
  id: Uuid,
  identityId: Uuid,
  sourceAppClientId: ClientId,
  sourceAppName: Type.String(),
  sourceAppIconUrl: OrNull(Type.String()),
  sourceAppWebsiteUrl: OrNull(Type.String()),
  targetResourceKey: Type.String(),
  targetResourceName: Type.String(),
  targetAudience: Type.String(),
  targetAppClientId: ClientId,
  targetAppName: Type.String(),
  scope: Type.String(),
  /** What the granted scopes let do, in the words of the target app; of a scope that has none, nothing. */
  scopeDescriptions: Type.Record(Type.String(), Type.String()),
  communicationMode: CommunicationMode,
  status: Type.Union([Type.Literal('active'), Type.Literal('revoked')]),
  createdAt: Instant,
  updatedAt: Instant,
  revokedAt: OrNull(Instant),
  lastUsedAt: OrNull(Instant),
})
export type Delegation = Static<typeof Delegation>

export const listDelegations = endpoint(
  'GET /api/oauth/delegations',
  { ...session, summary: 'List what apps may do at others as my identities, or might until lately' },
  {},
  { 200: Type.Object({ delegations: Type.Array(Delegation) }) },
)

const ById = Type.Object({ delegationId: Uuid })

export const revokeDelegation = endpoint(
  'DELETE /api/oauth/delegations/:delegationId',
  { ...session, summary: 'Revoke a delegation: the source app gets no more tokens by it' },
  { params: ById },
  { 204: Nothing },
)

/** That tokens were taken within one minute, for these scopes. */
export const DelegationUse = Type.Object({ at: Instant, scope: Type.String(), count: Type.Integer() })
export type DelegationUse = Static<typeof DelegationUse>

export const listDelegationUses = endpoint(
  'GET /api/oauth/delegations/:delegationId/uses',
  { ...session, summary: 'When the source app took tokens by a delegation, the latest first' },
  { params: ById },
  { 200: Type.Object({ uses: Type.Array(DelegationUse) }) },
)

/** What a token exchange gives (RFC 8693 §2.2.1): a token with which one app acts at a resource of another. */
export const ExchangeResponse = Type.Object({
  access_token: Type.String(),
  issued_token_type: Type.Literal('urn:ietf:params:oauth:token-type:access_token'),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  scope: Type.String(),
  audience: Type.String(),
  target_resource: Type.String(),
  communication_mode: CommunicationMode,
})
export type ExchangeResponse = Static<typeof ExchangeResponse>
