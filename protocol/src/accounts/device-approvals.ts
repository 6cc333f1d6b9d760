import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { Ciphertext, Timestamp, nullable, Uuid } from '../values.ts'

/** 32 bytes in canonical base64url. */
const Bytes32 = Type.String({ pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$', description: '32 bytes' })

/** Signed-in device that asks another device to unlock it. */
export const PendingDeviceApproval = Type.Object({
  approvalId: Uuid,
  commitment: Bytes32,
  userAgent: nullable(Type.String()),
  createdAt: Timestamp,
  expiresAt: Timestamp,
})
export type PendingDeviceApproval = Static<typeof PendingDeviceApproval>

/** Public key and nonce to which a device had committed itself. */
export const CommitmentOpening = Type.Object({ publicKey: Bytes32, nonce: Bytes32 })
export type CommitmentOpening = Static<typeof CommitmentOpening>

/** Progress of a device approval; values that are not known yet are null. */
export const DeviceApproval = Type.Object({
  approvalId: Uuid,
  expiresAt: Timestamp,
  answer: nullable(Type.Object({ publicKey: Bytes32 })),
  opening: nullable(CommitmentOpening),
  sealed: Type.Boolean({ description: 'Whether the ciphertext is ready to be retrieved' }),
})
export type DeviceApproval = Static<typeof DeviceApproval>

const session = { security: 'session', cors: 'first party' } as const
const ById = Type.Object({ approvalId: Uuid })

export const listPendingDeviceApprovals = endpoint(
  'GET /api/account/device-approvals',
  { ...session, summary: 'List the pending device approvals of my account' },
  {},
  { 200: Type.Object({ devices: Type.Array(PendingDeviceApproval) }) },
)

export const requestDeviceApproval = endpoint(
  'POST /api/account/device-approvals',
  { ...session, summary: 'Request a device approval' },
  { body: Type.Object({ commitment: Bytes32 }) },
  { 201: Type.Object({ approvalId: Uuid, expiresAt: Timestamp }) },
)

export const getDeviceApproval = endpoint(
  'GET /api/account/device-approvals/:approvalId',
  { ...session, summary: 'Get the progress of a device approval' },
  { params: ById },
  { 200: DeviceApproval },
)

export const submitApproverKey = endpoint(
  'POST /api/account/device-approvals/:approvalId/answer',
  { ...session, summary: 'Answer a device approval with a public key' },
  { params: ById, body: Type.Object({ publicKey: Bytes32 }) },
  { 204: NoContent },
)

export const revealCommitment = endpoint(
  'POST /api/account/device-approvals/:approvalId/reveal',
  { ...session, summary: 'Reveal the commitment' },
  { params: ById, body: CommitmentOpening },
  { 204: NoContent },
)

export const submitWrappedMasterKey = endpoint(
  'POST /api/account/device-approvals/:approvalId/wrap',
  { ...session, summary: 'Send the wrapped master key to the requesting device' },
  { params: ById, body: Type.Object({ ciphertext: Ciphertext }) },
  { 204: NoContent },
)

export const consumeWrappedMasterKey = endpoint(
  'POST /api/account/device-approvals/:approvalId/take',
  { ...session, summary: 'Retrieve the wrapped master key (once)' },
  { params: ById },
  { 200: Type.Object({ ciphertext: Ciphertext }) },
)

export const cancelDeviceApproval = endpoint(
  'DELETE /api/account/device-approvals/:approvalId',
  { ...session, summary: 'Cancel or deny a device approval' },
  { params: ById },
  { 204: NoContent },
)
