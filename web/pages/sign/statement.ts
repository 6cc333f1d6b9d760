import { toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { approvalChallengeInput } from '@countersign/protocol/formats/signing/approval'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { ResponseOf } from '@countersign/protocol/api'
import type { ApprovalStatement } from '@countersign/protocol/signing/approvals'
import type { SigningKey } from '@countersign/protocol/signing/keys'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { type DisplayedStatement, roleOf } from './steps.ts'

export type Started = ResponseOf<'POST /api/signing/requests/:requestId/approval'>

/** What the page shows, and what it knows from its own address. */
export type Displayed = { request: SigningRequest; requestId: string; issuer: string }

/** Returns the role in which the user approves what is shown. */
export function approvalRoleOf(request: SigningRequest): ApprovalStatement['role'] {
  return request.organization ? roleOf(request) : 'self'
}

/**
 * Writes the statement of what the page shows. Of the service's answer it takes only the challenge and its time, so
 * that the user's passkey and key confirm nothing that was not shown.
 */
export async function stateDisplayed(
  { request, requestId, issuer }: Displayed,
  { publicKey, keyVersion }: Pick<SigningKey, 'publicKey' | 'keyVersion'>,
  { challenge, challengedAt }: Pick<Started, 'challenge' | 'challengedAt'>,
): Promise<DisplayedStatement> {
  const { app, identityId, handle, payload, organization, createdAt, expiresAt } = request
  const member = organization && {
    id: organization.id,
    name: organization.name,
    memberId: organization.memberId,
    approvalsNeeded: organization.approvalsNeeded,
  }
  return {
    version: 2,
    issuer,
    requestId,
    app: { clientId: app.clientId, name: app.name, origins: [...new Set(app.origins)].toSorted() },
    identityId,
    handle,
    role: approvalRoleOf(request),
    organization: member ?? null,
    payloadSha256: toBase64(await sha256(new TextEncoder().encode(payload))),
    publicKey,
    keyVersion,
    challenge,
    createdAt,
    challengedAt,
    expiresAt,
  }
}

/** Compares the statement of what is shown with that of the service, and the clocks of both. */
export function findDifference(
  statement: DisplayedStatement,
  started: Pick<Started, 'statement' | 'challengedAt'>,
  now: number,
): 'statement' | 'clock' | undefined {
  if (writeCanonicalJson(statement) !== started.statement) return 'statement'
  const milliseconds = Math.abs(now - Date.parse(started.challengedAt))
  return milliseconds <= pageLimits.signingApprovalClockSecondsMax * 1000 ? undefined : 'clock'
}

/** Computes the challenge for the passkey, base64url. */
export async function challengeOf(statement: DisplayedStatement): Promise<string> {
  return toBase64Url(await sha256(approvalChallengeInput(statement)))
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}
