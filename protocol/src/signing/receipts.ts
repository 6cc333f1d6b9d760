import { type Static, Type } from 'typebox'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { PublicKey, Signature, Timestamp, Uuid } from '../values.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { Approval } from './approvals.ts'
import { LoggedKeyEvent } from './transparency.ts'

/** Role of a member's signature: sign as the organization, or approve. */
export const SignatureRole = Type.Union([Type.Literal('sign'), Type.Literal('approve')])

/**
 * Progress of an organization's signature: it is complete when one member has signed and enough others have approved.
 */
const Progress = Type.Object({
  id: OrganizationId,
  name: Type.String(),
  isSigned: Type.Boolean({ description: 'Whether a member has signed; counts only together with the approvals' }),
  approvals: Type.Integer(),
  approvalsNeeded: Type.Integer(),
})
export type SigningProgress = Static<typeof Progress>
export const MemberSigningState = { organization: Type.Optional(Progress) }

/** Signature of a member in a completed request to an organization. */
export const OrganizationSignature = Type.Object({
  identityId: IdentityId,
  memberId: Uuid,
  role: SignatureRole,
  publicKey: PublicKey,
  signature: Signature,
  at: Timestamp,
  approval: Type.Optional(Approval),
})
export type OrganizationSignature = Static<typeof OrganizationSignature>

/** Request to an organization in the view of a member: permissions, and signatures so far. */
export const SigningRequestOrganization = Type.Object({
  ...Progress.properties,
  memberId: Uuid,
  maySign: Type.Boolean(),
  mayApprove: Type.Boolean(),
  answered: Type.Union([Type.Literal('sign'), Type.Literal('approve'), Type.Null()], {
    description: 'My own answer, as far as it counts',
  }),
  answers: Type.Array(
    Type.Object({
      memberId: Uuid,
      handle: Type.Union([Type.String(), Type.Null()]),
      role: SignatureRole,
      at: Timestamp,
    }),
    { description: 'Signatures that count so far, oldest first' },
  ),
})

/** The `typ` of a receipt: token verifiers reject it. */
export const receiptType = 'countersign-receipt+jwt'
export const receiptMediaType = `application/${receiptType}`

/** All entries of the signer's keys under the checkpoint, in the order of the log, with their proofs. */
const KeyHistory = Type.Array(LoggedKeyEvent, { minItems: 1, maxItems: 2 * limits.signingKeysMax + 1 })

/** Receipt signed by the service: signer, text and time, and the history of the signer's keys in the log. */
export const Receipt = Type.Object({
  version: Type.Literal(1),
  requestId: Uuid,
  clientId: ClientId,
  identityId: IdentityId,
  handle: Type.Optional(Type.String({ description: 'Handle at the time of signing; absent in old requests' })),
  payloadSha256: Type.String({ description: 'SHA-256 of the UTF-8 bytes of the text, base64' }),
  signature: Type.String({ description: "The user's Ed25519 signature over these bytes, base64" }),
  publicKey: Type.String({ description: 'Ed25519 public key, base64' }),
  keyVersion: Type.Integer({ minimum: 1 }),
  createdAt: Timestamp,
  resolvedAt: Timestamp,
  issuedAt: Timestamp,
  approval: Type.Optional(Approval),
  history: KeyHistory,
  checkpoint: Type.String({ description: 'The checkpoint under which the key is proved' }),
})
export type Receipt = Static<typeof Receipt>

/** Signature of one member in a receipt of an organization. */
const ReceiptSignature = Type.Object({
  identityId: IdentityId,
  memberId: Uuid,
  handle: Type.Optional(
    Type.String({ description: 'Handle at the time of signing; absent if it is no longer stored' }),
  ),
  role: SignatureRole,
  signature: Type.String({ description: "The member's Ed25519 signature over these bytes, base64" }),
  publicKey: Type.String({ description: 'Ed25519 public key, base64' }),
  keyVersion: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  admittedAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Since when the council of the organization had the signer; absent where there was no council',
    }),
  ),
  approval: Type.Optional(Approval),
  history: KeyHistory,
})

/**
 * Receipt of an organization, with all members who signed or approved. It has its own version, so that it cannot be
 * mistaken for the receipt of a user.
 */
export const OrganizationReceipt = Type.Object({
  version: Type.Literal(2),
  requestId: Uuid,
  clientId: ClientId,
  organization: Type.Object({
    id: OrganizationId,
    name: Type.String({ description: 'Name at the time of the request' }),
  }),
  council: Type.Optional(
    Type.Object({
      resetAt: Type.Union([Timestamp, Type.Null()], {
        description: 'When an owner last ended a council of the organization without its consent',
      }),
    }),
  ),
  approvalsNeeded: Type.Integer({ minimum: 0 }),
  payloadSha256: Type.String({ description: 'SHA-256 of the UTF-8 bytes of the text, base64' }),
  signatures: Type.Array(ReceiptSignature, { minItems: 1 }),
  createdAt: Timestamp,
  resolvedAt: Timestamp,
  issuedAt: Timestamp,
  checkpoint: Type.String({ description: 'The checkpoint under which the keys are proved' }),
})
export type OrganizationReceipt = Static<typeof OrganizationReceipt>

const ByRequest = Type.Object({ requestId: Uuid })
const Jws = Type.String({ description: 'A compact JWS', contentMediaType: receiptMediaType })

export const readReceipt = endpoint(
  'GET /api/signing/requests/:requestId/receipt',
  {
    security: 'session',
    cors: 'first party',
    summary: 'Get a receipt for a request that I, or an organization with my signature, have signed',
  },
  { params: ByRequest },
  { 200: Jws },
)

export const getAppReceipt = endpoint(
  'GET /api/signing/request/:requestId/receipt',
  { security: 'none', cors: 'no origin', summary: 'Get a receipt for a signed request of my app' },
  { params: ByRequest, querystring: Type.Object({ clientId: ClientId }) },
  { 200: Jws },
)
