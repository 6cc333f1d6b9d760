import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../../endpoint.ts'
import { IdentityId } from '../../ids.ts'
import { Timestamp, Uuid, nullable } from '../../values.ts'
import { RecoveryAuth } from '../keys.ts'
import { CreationOptions, RegistrationResponse } from '../passkeys.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'people.recover' } as const
const managing = { ...reading, recentAuthentication: true } as const
const own = { security: 'session', cors: 'first party' } as const

const State = Type.Union(
  [
    Type.Literal('issued'),
    Type.Literal('expired'),
    Type.Literal('redeemed'),
    Type.Literal('completed'),
    Type.Literal('settled'),
    Type.Literal('cancelled'),
    Type.Literal('undone'),
  ],
  {
    description:
      'With redeemed, the new passkey waits for completesAt. With completed, it opens the identity, and another ' +
      'passkey of the account undoes it until holdUntil',
  },
)

/** Link by which a user who lost every passkey recovers. Operators never see its secret. */
export const RecoveryLink = Type.Object({
  recoveryLinkId: Uuid,
  identityId: IdentityId,
  state: State,
  reason: Type.String(),
  issuedAt: Timestamp,
  expiresAt: Timestamp,
  completesAt: nullable(Timestamp),
  holdUntil: nullable(Timestamp),
  endedAt: nullable(Timestamp),
})
export type RecoveryLink = Static<typeof RecoveryLink>

export const NewRecoveryLink = Type.Object(
  {
    delivery: Type.Literal('mail', { description: 'Mailed to the verified address of the identity' }),
    reason: Type.String({ minLength: 1, maxLength: 2000, description: '1 to 500 characters, for the audit log' }),
  },
  { additionalProperties: false },
)
export type NewRecoveryLink = Static<typeof NewRecoveryLink>

export const issueRecoveryLink = endpoint(
  'POST /api/admin/identities/:identityId/recovery-links',
  { ...managing, summary: 'Mail a recovery link to an identity' },
  { params: Type.Object({ identityId: IdentityId }), body: NewRecoveryLink },
  { 201: RecoveryLink },
)

export const listRecoveryLinks = endpoint(
  'GET /api/admin/identities/:identityId/recovery-links',
  { ...reading, summary: 'List the recovery links of an identity in the last 30 days, newest first' },
  { params: Type.Object({ identityId: IdentityId }) },
  { 200: Type.Object({ recoveryLinks: Type.Array(RecoveryLink) }) },
)

const params = Type.Object({ identityId: IdentityId, recoveryLinkId: Uuid })

export const getRecoveryLink = endpoint(
  'GET /api/admin/identities/:identityId/recovery-links/:recoveryLinkId',
  { ...reading, summary: 'Get the state of a recovery link' },
  { params },
  { 200: RecoveryLink },
)

export const cancelRecoveryLink = endpoint(
  'DELETE /api/admin/identities/:identityId/recovery-links/:recoveryLinkId',
  { ...managing, summary: 'Cancel a recovery link' },
  { params },
  { 204: NoContent },
)

/** Recovery in progress, as the user of the account sees it. */
export const OwnRecoveryLink = Type.Object({
  recoveryLinkId: Uuid,
  identityId: IdentityId,
  state: Type.Union([Type.Literal('issued'), Type.Literal('redeemed'), Type.Literal('completed')]),
  issuedAt: Timestamp,
  expiresAt: Timestamp,
  completesAt: nullable(Timestamp),
  holdUntil: nullable(Timestamp),
})
export type OwnRecoveryLink = Static<typeof OwnRecoveryLink>

export const listOwnRecoveryLinks = endpoint(
  'GET /api/account/recovery-links',
  { ...own, summary: 'List the recoveries of my account that are in progress' },
  {},
  { 200: Type.Object({ recoveryLinks: Type.Array(OwnRecoveryLink) }) },
)

const ownLink = Type.Object({ recoveryLinkId: Uuid })

export const stopOwnRecoveryLink = endpoint(
  'DELETE /api/account/recovery-links/:recoveryLinkId',
  { ...own, summary: 'Stop a recovery of my account, or undo it' },
  { params: ownLink },
  { 204: NoContent },
)

export const acceptRecovery = endpoint(
  'POST /api/account/recovery-links/:recoveryLinkId/acceptance',
  { ...own, summary: 'Make the passkey of a recovery one of my account; requires recent authentication' },
  { params: ownLink },
  { 204: NoContent },
)

export const liftRecoveryLimit = endpoint(
  'POST /api/account/recovery-limit/lift',
  {
    ...own,
    recoveredSession: true,
    summary: 'Prove with the recovery code that the whole account is mine: my recovered passkey becomes one of it',
  },
  { body: Type.Object({ recoveryAuth: RecoveryAuth }) },
  { 204: NoContent },
)

const FlowId = Type.String({ minLength: 1, maxLength: 100 })
const page = { security: 'none', cors: 'first party' } as const
const Secret = Type.String({ maxLength: 200, writeOnly: true, description: 'Secret of the mailed link' })

export const stopMailedRecoveryLink = endpoint(
  'POST /api/recovery-links/stop',
  { ...page, summary: 'Stop a recovery by a mailed link, or undo it' },
  { body: Type.Object({ stop: Secret }) },
  { 204: NoContent },
)

export const startRedemption = endpoint(
  'POST /api/recovery-links/redemption/start',
  { ...page, summary: 'Start to use a recovery link: get the options of the new passkey' },
  { body: Type.Object({ token: Secret }) },
  { 200: Type.Object({ flowId: FlowId, options: CreationOptions, handle: Type.String() }) },
)

export const finishRedemption = endpoint(
  'POST /api/recovery-links/redemption/finish',
  { ...page, summary: 'Use a recovery link with the new passkey, which becomes valid later' },
  { body: Type.Object({ token: Secret, flowId: FlowId, credential: RegistrationResponse }) },
  {
    200: Type.Object({
      validFrom: Timestamp,
      keysStayClosed: Type.Literal(true, { description: 'The new passkey does not unlock end-to-end encrypted data' }),
    }),
  },
)
