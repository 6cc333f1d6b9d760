import { toBase64 } from '@countersign/protocol/formats/base64'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import type { Signatory } from '#organizations/membership/signatory.ts'
import { toAskingApp } from './asking-app.ts'
import type { StoredAnswer } from './organization-answer-store.ts'
import type { StoredRequest } from './organization-request-store.ts'
import { toProgress } from './organization-request.ts'

/** As whom a person looks at a request: as which member, by which name, with which key. */
type Own = Omit<Signatory, 'organization'> & { handle: string; publicKey: Uint8Array }

/** A request to an organization as one of its members sees it. Signatures are told once it is signed. */
export function toMemberView(
  request: StoredRequest,
  answers: StoredAnswer[],
  { maySign, mayApprove, memberId, identityId, handle, publicKey }: Own,
): SigningRequest {
  const { requestId, payload, status, connected } = request
  const first = status === 'signed' ? answers.find(({ role }) => role === 'sign') : undefined
  return {
    requestId,
    identityId,
    handle,
    app: toAskingApp(request),
    connected,
    demonstration: false,
    payload,
    status,
    publicKey: toBase64(first?.publicKey ?? publicKey),
    createdAt: request.createdAt.toISOString(),
    expiresAt: request.expiresAt.toISOString(),
    ...(request.resolvedAt && { resolvedAt: request.resolvedAt.toISOString() }),
    ...(first && { signature: toBase64(first.signature) }),
    organization: {
      ...toProgress(request, answers),
      ...{ memberId, maySign, mayApprove },
      answered: answers.find((answer) => answer.identityId === identityId)?.role ?? null,
      answers: answers.map(({ signedAs, answeredAt, ...answer }) => ({
        memberId: answer.memberId,
        handle: signedAs,
        role: answer.role,
        at: answeredAt.toISOString(),
      })),
    },
  }
}
