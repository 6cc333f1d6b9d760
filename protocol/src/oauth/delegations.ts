import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { Timestamp, nullable, Uuid } from '../values.ts'

const session = { security: 'session', cors: 'first party' } as const

/** When the source app may act: within one hour after the user's authentication, or also in the background. */
export const CommunicationMode = Type.Union([Type.Literal('user_present'), Type.Literal('background')])
export type CommunicationMode = Static<typeof CommunicationMode>

/** Delegation: the source app may act at a resource of the target app, as an identity. */
export const Delegation = Type.Object({
  id: Uuid,
  identityId: IdentityId,
  sourceAppClientId: ClientId,
  sourceAppName: Type.String(),
  sourceAppIconUrl: nullable(Type.String()),
  sourceAppWebsiteUrl: nullable(Type.String()),
  targetResourceKey: Type.String(),
  targetResourceName: Type.String(),
  targetAudience: Type.String(),
  targetAppClientId: ClientId,
  targetAppName: Type.String(),
  scope: Type.String(),
  /** Descriptions of the granted scopes by the target app; scopes without one are omitted. */
  scopeDescriptions: Type.Record(Type.String(), Type.String()),
  communicationMode: CommunicationMode,
  status: Type.Union([Type.Literal('active'), Type.Literal('revoked')]),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  revokedAt: nullable(Timestamp),
  lastUsedAt: nullable(Timestamp),
})
export type Delegation = Static<typeof Delegation>

export const listDelegations = endpoint(
  'GET /api/oauth/delegations',
  { ...session, summary: 'List the active and recently revoked delegations of my identities' },
  {},
  { 200: Type.Object({ delegations: Type.Array(Delegation) }) },
)

const ById = Type.Object({ delegationId: Uuid })

export const revokeDelegation = endpoint(
  'DELETE /api/oauth/delegations/:delegationId',
  { ...session, summary: 'Revoke a delegation: the source app gets no more tokens from it' },
  { params: ById },
  { 204: NoContent },
)

/** Uses of a delegation within one minute, with their scopes. */
export const DelegationUse = Type.Object({ at: Timestamp, scope: Type.String(), count: Type.Integer() })
export type DelegationUse = Static<typeof DelegationUse>

export const listDelegationUses = endpoint(
  'GET /api/oauth/delegations/:delegationId/uses',
  { ...session, summary: 'List the uses of a delegation, newest first' },
  { params: ById },
  { 200: Type.Object({ uses: Type.Array(DelegationUse) }) },
)

/** Answer to a token exchange (RFC 8693 §2.2.1): a token with which one app acts at a resource of another. */
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
