import { type Static, Type } from 'typebox'
import { AuthenticationResponse } from '../accounts/passkeys.ts'
import { NoContent, endpoint } from '../endpoint.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { Base64, Timestamp, UncheckedSignature, Uuid, nullable } from '../values.ts'
import { ActingAs } from './organizations.ts'

const Details = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Parameters of the path and fields of the body, a secret as {"commitment"}; `from` has what the act changes',
})

/** What a started act consists of. Nothing is done until the member has signed it. */
const started = {
  actId: Uuid,
  identityId: IdentityId,
  details: Details,
  salt: Type.String({ description: '16 bytes, base64: the statement contains a digest of details and salt' }),
  secretSalt: Type.Optional(
    Type.String({ description: '16 bytes, base64: salt of the commitments, for those who know the secrets' }),
  ),
  statement: Type.String({ description: 'Canonical JSON of the act, to be signed' }),
  expiresAt: Timestamp,
}

/**
 * Fields of `signed_action_required`. `message` is what a signature of version 1 signs, which is noted alone. An act
 * that needs approvals is proposed first.
 */
export const StartedAct = Type.Object({
  ...started,
  message: Type.Optional(Type.String()),
  approvalsNeeded: Type.Integer({ description: 'Approvals that the act needs of other members' }),
})
export type StartedAct = Static<typeof StartedAct>

/** Started act in the view of the page that shows and signs it. */
export const Act = Type.Object({
  ...started,
  role: Type.Union([Type.Literal('sign'), Type.Literal('approve')], {
    description: '`approve` approves the proposal of another member',
  }),
  action: Type.String({ description: 'Name of the action, as in the audit log' }),
  approvalsNeeded: Type.Integer({ description: 'Approvals that it needs of others: without a proposal, propose it' }),
  proposal: nullable(
    Type.Object({
      proposalId: Uuid,
      statement: Type.String({ description: 'Canonical JSON of the proposal' }),
      proposedBy: Type.Object({ handle: Type.String(), displayName: Type.String() }),
    }),
  ),
})
export type Act = Static<typeof Act>

/** Entry of a trail with its signatures, without details. */
export const ActTrailEntry = Type.Object({
  entry: Type.String({ description: 'Entry, as the text of its canonical JSON' }),
  acts: Type.Array(Type.Object({ statement: Type.String(), presence: Base64, signature: Base64 })),
})
export type ActTrailEntry = Static<typeof ActTrailEntry>

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const ByActId = Type.Object({ organizationId: OrganizationId, actId: Uuid })

export const getAct = endpoint(
  'GET /api/organizations/:organizationId/acts/:actId',
  { ...business, summary: 'Get an act that this session has started, to show and sign it' },
  { params: ByActId, querystring: ActingAs },
  { 200: Act },
)

export const listActTrail = endpoint(
  'GET /api/organizations/:organizationId/acts/:actId/trail',
  { ...business, summary: 'List entries of the trail up to the head that a started act names, 500 at a time' },
  {
    params: ByActId,
    querystring: Type.Object({
      ...ActingAs.properties,
      after: Type.Optional(
        Type.String({ pattern: '^(0|[1-9][0-9]{0,8})$', description: 'Number of the entry before the first one' }),
      ),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(ActTrailEntry) }) },
)

export const performAct = endpoint(
  'POST /api/organizations/:organizationId/acts/:actId',
  { ...business, summary: 'Do a started act once, by the signature of its statement and a passkey use for it' },
  {
    params: ByActId,
    querystring: ActingAs,
    body: Type.Object({ signature: UncheckedSignature, credential: AuthenticationResponse }),
  },
  {
    200: Type.Object({
      action: Type.String(),
      result: Type.Unknown({ description: 'Response of the endpoint that started the act; null if it has none' }),
    }),
  },
)

export const declineAct = endpoint(
  'DELETE /api/organizations/:organizationId/acts/:actId',
  { ...business, summary: 'Decline a started act' },
  { params: ByActId, querystring: ActingAs },
  { 204: NoContent },
)
