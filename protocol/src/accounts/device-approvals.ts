import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { Ciphertext, Instant, OrNull, Uuid } from '../values.ts'

/** 32 bytes in the one base64url that they have. */
const Bytes32 = Type.String({ pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$', description: '32 bytes' })

/** A device that is signed in, and asks another one to unlock it. */
export const WaitingDevice = Type.Object({
  approvalId: Uuid,
  commitment: Bytes32,
  userAgent: OrNull(Type.String()),
  createdAt: Instant,
  expiresAt: Instant,
})
export type WaitingDevice = Static<typeof WaitingDevice>

/** The public key and the nonce to which a device had committed itself. */
export const Opening = Type.Object({ publicKey: Bytes32, nonce: Bytes32 })
export type Opening = Static<typeof Opening>

/** How far two devices have come; what was not said yet is null. */
export const DeviceApproval = Type.Object({
  approvalId: Uuid,
  expiresAt: Instant,
  answer: OrNull(Type.Object({ publicKey: Bytes32 })),
  opening: OrNull(Opening),
  sealed: Type.Boolean({ description: 'Whether the ciphertext is there to be taken' }),
})
export type DeviceApproval = Static<typeof DeviceApproval>

const session = { security: 'session', cors: 'our pages' } as const
const ById = Type.Object({ approvalId: Uuid })

export const listWaitingDevices = endpoint(
  'GET /api/account/device-approvals',
  { ...session, summary: 'My other devices that ask to be unlocked' },
  {},
  { 200: Type.Object({ devices: Type.Array(WaitingDevice) }) },
)

export const askForApproval = endpoint(
  'POST /api/account/device-approvals',
  { ...session, summary: 'Ask my other devices to unlock this one' },
  { body: Type.Object({ commitment: Bytes32 }) },
  { 201: Type.Object({ approvalId: Uuid, expiresAt: Instant }) },
)

export const readApproval = endpoint(
  'GET /api/account/device-approvals/:approvalId',
  { ...session, summary: 'How far the two devices have come' },
  { params: ById },
  { 200: DeviceApproval },
)

export const answerApproval = endpoint(
  'POST /api/account/device-approvals/:approvalId/answer',
  { ...session, summary: 'Answer a device that asks, with a public key' },
  { params: ById, body: Type.Object({ publicKey: Bytes32 }) },
  { 204: Nothing },
)

export const openCommitment = endpoint(
  'POST /api/account/device-approvals/:approvalId/reveal',
  { ...session, summary: 'Say what this device had committed itself to' },
  { params: ById, body: Opening },
  { 204: Nothing },
)

export const sealForDevice = endpoint(
  'POST /api/account/device-approvals/:approvalId/wrap',
  { ...session, summary: 'Give the device that asked what unlocks it, as a ciphertext for it alone' },
  { params: ById, body: Type.Object({ ciphertext: Ciphertext }) },
  { 204: Nothing },
)

export const takeSealed = endpoint(
  'POST /api/account/device-approvals/:approvalId/take',
  { ...session, summary: 'Take what unlocks this device; it is given once' },
  { params: ById },
  { 200: Type.Object({ ciphertext: Ciphertext }) },
)

export const cancelApproval = endpoint(
  'DELETE /api/account/device-approvals/:approvalId',
  { ...session, summary: 'Unlock no device by this' },
  { params: ById },
  { 204: Nothing },
)
