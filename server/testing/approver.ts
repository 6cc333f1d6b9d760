import { createHash } from 'node:crypto'
import {
  type PresenceEvidence,
  approvalChallenge,
  approvalMessage,
  presenceDigest,
} from '@countersign/protocol/formats/signing/approval'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { ApprovalStatement } from '@countersign/protocol/signing/approvals'
import type { AuthenticatorOverrides } from './authenticator.ts'
import type { createSigner, SigningPair } from './signer.ts'
import type { TestWorld } from './world.ts'

type Signer = Awaited<ReturnType<typeof createSigner>>
type Approver = Pick<Signer, 'authenticator' | 'pair'>
type Role = ApprovalStatement['role']
type Started = { flowId: string; challenge: string; challengedAt: string; statement: string }

/** Deviations of an approval that a test expects to be rejected. */
export type ApprovalOverrides = {
  /** Text that is signed, if it is not that of the request. */
  text?: string
  /** Changes of the statement that the passkey and the key sign. */
  statement?: Record<string, unknown>
  assertion?: AuthenticatorOverrides
  authenticator?: Signer['authenticator']
  /** Digest that the key signs in place of that of the assertion; null for none. */
  presence?: Uint8Array | null
  /** Key that signs the statement. */
  pair?: SigningPair
  flowId?: string
}

const defaultText = 'Pay 10 €'

export function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

/** Builds the body with which a person answers a started approval, as their browser does. */
export function answerOf(signer: Approver, started: Started, bent: ApprovalOverrides = {}) {
  const { text = defaultText, authenticator = signer.authenticator, pair = signer.pair } = bent
  const statement: JsonObject = { ...JSON.parse(started.statement), ...bent.statement }
  const challenge = Buffer.from(approvalChallenge(sha256, statement)).toString('base64url')
  const credential = authenticator.authenticate({ challenge }, bent.assertion)
  const digest = bent.presence === undefined ? presenceDigest(sha256, evidenceOf(signer, credential)) : bent.presence
  const signature = pair.signBytes(approvalMessage(statement, digest ?? undefined))
  return {
    signature: signer.pair.sign(text),
    approval: { flowId: bent.flowId ?? started.flowId, signature, credential },
  }
}

export function evidenceOf(
  { authenticator }: Pick<Approver, 'authenticator'>,
  { response }: ReturnType<Signer['authenticator']['authenticate']>,
): PresenceEvidence {
  return {
    publicKey: authenticator.publicKey,
    authenticatorData: Buffer.from(response.authenticatorData, 'base64url'),
    clientDataJson: Buffer.from(response.clientDataJSON, 'base64url'),
    signature: Buffer.from(response.signature, 'base64url'),
  }
}

/** Sends the requests of a person who approves. */
export function approverOf({ api }: TestWorld, signer: Signer, { headers } = { headers: signer.headers }) {
  const post = (path: string, payload: object) =>
    api.inject({ method: 'POST', url: `/api/signing/requests/${path}`, headers, payload })
  const start = (requestId: string, role: Role = 'self') => post(`${requestId}/approval`, { role })
  const send = (requestId: string, body: object, role: Role = 'self') =>
    post(`${requestId}/${role === 'approve' ? 'approve' : 'sign'}`, body)
  return {
    start,
    send,
    async begin(requestId: string, role: Role = 'self'): Promise<Started> {
      const answer = await start(requestId, role)
      if (answer.statusCode !== 200) throw new Error(`approval not started: ${answer.body}`)
      return answer.json()
    },
    /** Starts and gives an approval. */
    async give(requestId: string, { role = 'self', ...bent }: ApprovalOverrides & { role?: Role } = {}) {
      return send(requestId, answerOf(signer, await this.begin(requestId, role), bent), role)
    },
  }
}
