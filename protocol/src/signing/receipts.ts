import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SignatureRole } from './organization-signing.ts'
import { LoggedKeyEvent } from './transparency.ts'
import { ClientId, Instant, Uuid } from '../values.ts'

/** The `typ` of a receipt: no verifier of tokens takes it for one. */
export const receiptType = 'countersign-receipt+jwt'
export const receiptMediaType = `application/${receiptType}`

/** What a receipt says, and the service signs: who signed which text when, and where the log tells their key. */
export const Receipt = Type.Object({
  version: Type.Literal(1),
  requestId: Uuid,
  clientId: ClientId,
  identityId: Uuid,
  handle: Type.Optional(Type.String({ description: 'Under which they signed; absent where that was not kept yet' })),
  payloadSha256: Type.String({ description: 'Of the UTF-8 bytes of the text, base64' }),
  signature: Type.String({ description: 'The Ed25519 signature of the person over these bytes, base64' }),
  publicKey: Type.String({ description: 'Ed25519 public key, base64' }),
  keyVersion: Type.Integer({ minimum: 1 }),
  createdAt: Instant,
  resolvedAt: Instant,
  issuedAt: Instant,
  key: LoggedKeyEvent,
  checkpoint: Type.String({ description: 'The head of the log under which the key is proved' }),
})
export type Receipt = Static<typeof Receipt>

/** What one member signed of what an organization has signed. */
const ReceiptSignature = Type.Object({
  identityId: Uuid,
  memberId: Uuid,
  handle: Type.Optional(
    Type.String({ description: 'Under which they signed; absent where that is not kept any more' }),
  ),
  role: SignatureRole,
  signature: Type.String({ description: 'The Ed25519 signature of the member over these bytes, base64' }),
  publicKey: Type.String({ description: 'Ed25519 public key, base64' }),
  keyVersion: Type.Integer({ minimum: 1 }),
  at: Instant,
  key: LoggedKeyEvent,
})

/**
 * The same for an organization: everybody who has signed or approved for it. Of a version of its own, so that nobody
 * takes it for the receipt of one person.
 */
export const OrganizationReceipt = Type.Object({
  version: Type.Literal(2),
  requestId: Uuid,
  clientId: ClientId,
  organization: Type.Object({ id: Uuid, name: Type.String({ description: 'As it was called when it was asked' }) }),
  approvalsNeeded: Type.Integer({ minimum: 0 }),
  payloadSha256: Type.String({ description: 'Of the UTF-8 bytes of the text, base64' }),
  signatures: Type.Array(ReceiptSignature, { minItems: 1 }),
  createdAt: Instant,
  resolvedAt: Instant,
  issuedAt: Instant,
  checkpoint: Type.String({ description: 'The head of the log under which the keys are proved' }),
})
export type OrganizationReceipt = Static<typeof OrganizationReceipt>

const ByRequest = Type.Object({ requestId: Uuid })
const Jws = Type.String({ description: 'A compact JWS', contentMediaType: receiptMediaType })

export const readReceipt = endpoint(
  'GET /api/signing/requests/:requestId/receipt',
  {
    security: 'session',
    cors: 'our pages',
    summary: 'A receipt for what I have signed, or an organization that I sign or approve for or did',
  },
  { params: ByRequest },
  { 200: Jws },
)

export const readReceiptOfApp = endpoint(
  'GET /api/signing/request/:requestId/receipt',
  { security: 'none', cors: 'no origin', summary: 'A receipt for a request of an app that was signed' },
  { params: ByRequest, querystring: Type.Object({ clientId: ClientId }) },
  { 200: Jws },
)
