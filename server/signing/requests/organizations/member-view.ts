import { toBase64 } from '@countersign/protocol/formats/base64'
import type { IdentityId } from '@countersign/protocol/ids'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { type OrganizationSigner, requireSigners } from '#organizations/membership/signatory.ts'
import { toRequestingApp } from '#signing/requests/apps/metadata.ts'
import * as answerStore from './organization-answer-store.ts'
import type { StoredMemberSignature } from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import type { StoredRequest } from './organization-request-store.ts'
import { loadRequestWithExpiry, toProgress } from './organization-request.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Session } from '#accounts/sessions/session.ts'

const errors = defineErrors({
  request_not_found: [404, 'Signing request not found.'],
  no_signing_key: [422, 'The identity has no signing key. Create one first.'],
})

/** Membership through which a user sees a request, with handle and signing key. */
type Own = Omit<OrganizationSigner, 'organization'> & { handle: string; publicKey: Uint8Array }

/** Maps a request to an organization to the view of a member. Signatures are included once it is signed. */
export function toMemberView(
  request: StoredRequest,
  answers: StoredMemberSignature[],
  { maySign, mayApprove, memberId, identityId, handle, publicKey }: Own,
): SigningRequest {
  const { requestId, payload, status, connected } = request
  const first = status === 'signed' ? answers.find(({ role }) => role === 'sign') : undefined
  return {
    requestId,
    identityId,
    handle,
    app: toRequestingApp(request),
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

export type Surroundings = Pick<ServerContext, 'db' | 'config'>
export type OrganizationRequestContext = { session: Session } & answerStore.OrganizationRequestKey

/** Finds the organization and app of a request; returns undefined if it is not a request to an organization. */
export async function findOrganizationRequest(
  db: Database,
  session: Session,
  requestId: string,
): Promise<OrganizationRequestContext | undefined> {
  const place = await store.findRequestRoute(db, requestId)
  return place && { session, requestId, organizationId: place.organizationId }
}

/**
 * Returns a request to an organization for a member who may sign or approve. Throws `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `no_signing_key`.
 */
export async function getOrganizationSigningRequest(
  surroundings: Surroundings,
  asking: OrganizationRequestContext,
  now: Date,
) {
  const { db } = surroundings
  const signatories = await requireReader(surroundings, asking, now)
  const [view] = await toMemberViews(db, [await loadRequestWithExpiry(db, asking, now)], signatories)
  if (!view) throw errors.no_signing_key()
  return view
}

/**
 * Returns the memberships through which a user may read and answer a request. Throws the errors of `requireSigners`,
 * and `request_not_found` for a user who is not a member.
 */
export async function requireReader(
  surroundings: Surroundings,
  { session, organizationId }: OrganizationRequestContext,
  now: Date,
) {
  const signatories = await requireSigners(surroundings, session, organizationId, now)
  if (signatories.length === 0) throw errors.request_not_found()
  return signatories
}

/** Maps requests to the view of a member, without those for which the user has no signing key. */
export async function toMemberViews(
  db: Database,
  requests: store.StoredRequest[],
  signatories: OrganizationSigner[],
): Promise<SigningRequest[]> {
  if (requests.length === 0) return []
  const answers = Map.groupBy(await answerStore.listMemberSignaturesOf(db, requests), ({ requestId }) => requestId)
  const signers = await answerStore.listSigners(db, signatories.map(identityIdOf))
  return requests.flatMap((request) => {
    const given = answers.get(request.requestId) ?? []
    const members = signatories.filter(({ organization }) => organization.organizationId === request.organizationId)
    const own = chooseOwn(members, given, signers)
    return own ? [toMemberView(request, given, own)] : []
  })
}

/**
 * Chooses the member identity with which a user answers: the one that has answered already, or one that may sign, or
 * one that may approve.
 */
export function chooseOwn(
  signatories: OrganizationSigner[],
  answers: answerStore.StoredMemberSignature[],
  signers: answerStore.Signer[],
) {
  const hasAnswered = (own: OrganizationSigner) => answers.some(({ identityId }) => identityId === own.identityId)
  const rank = (own: OrganizationSigner) => (hasAnswered(own) ? 2 : Number(own.maySign))
  for (const signatory of signatories.toSorted((a, b) => rank(b) - rank(a))) {
    const signer = signers.find(({ identityId }) => identityId === signatory.identityId)
    if (signer) return { ...signatory, ...signer }
  }
  return undefined
}

export function identityIdOf({ identityId }: OrganizationSigner): IdentityId {
  return identityId
}
