import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { SigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { type OrganizationSigner, requireSigners } from '#organizations/membership/signatory.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import { toRequestingApp } from '#signing/requests/apps/metadata.ts'
import * as answerStore from './organization-answer-store.ts'
import type { StoredMemberSignature } from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import type { StoredRequest } from './organization-request-store.ts'
import { enqueueSigningWebhooks, loadRequestWithExpiry, toProgress } from './organization-request.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type Session, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { bindSignature } from '#signing/requests/apps/signature-use.ts'

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

const errors = defineErrors({
  invalid_signature: [
    400,
    'signature does not verify over the payload with the signing key of any of your member identities.',
  ],
  insufficient_scope: [403, 'Your role does not allow signing or approving for this organization.'],
  request_not_found: [404, 'Signing request not found.'],
  app_disabled: [409, 'The requesting app has been disabled. The request can only be denied.'],
  request_not_pending: [409, 'The signing request has already been resolved or has expired.'],
  no_signing_key: [422, 'The identity has no signing key. Create one first.'],
})

type Surroundings = Pick<ServerContext, 'db' | 'config'>
type OrganizationRequestContext = { session: Session } & answerStore.OrganizationRequestKey

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
 * Stores a member's signature, given as the organization or as an approval; with enough of them the request is signed.
 *
 * A new signature replaces an earlier one of the same user. The same identity may only replace it in the same role,
 * because a signature stays bound to its first role, also within one request. Throws `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `request_not_pending`, `app_disabled`, `reauthentication_required`,
 * `invalid_signature`, `signature_reused`.
 */
export async function signForOrganization(
  { db, config }: Surroundings,
  { role, signature: written, ...asking }: OrganizationRequestContext & { role: 'sign' | 'approve'; signature: string },
  now: Date,
) {
  const given = await actingTransaction(db, asking.session, async (tx) => {
    // Keeps member permissions unchanged and serializes the answers.
    await keepOrganization(tx, asking.organizationId)
    const signatories = await requireReader({ db: tx, config }, asking, now)
    const entitled = signatories.filter(({ maySign, mayApprove }) => (role === 'sign' ? maySign : mayApprove))
    if (entitled.length === 0) throw errors.insufficient_scope()
    const request = await store.lockPendingRequest(tx, asking, now)
    if (!request) return undefined
    if (request.appStatus !== 'active') throw errors.app_disabled()
    requireRecentAuthentication(asking.session, now)
    const answer = await verifySignatureOfMember(tx, entitled, { payload: request.payload, written })
    if (!answer || !(await answerStore.upsertMemberSignature(tx, asking, { ...answer, role }, now)))
      throw errors.invalid_signature()
    const { identityId, signature } = answer
    const { organizationId } = asking
    await bindSignature(tx, signature, { identityId, clientId: request.clientId, role, organizationId })

    const completed = await store.completeRequest(tx, asking, now)
    const action = role === 'sign' ? 'organization.signing.signed' : 'organization.signing.approved'
    await recordAnswer(tx, action, { asking, identityId, request, completes: !!completed }, now)
    if (completed) await enqueueSigningWebhooks(tx, [completed], now)
    const organization = toProgress(request, await answerStore.listMemberSignatures(tx, asking))
    return { publicKey: toBase64(answer.publicKey), completed, organization }
  })
  if (!given) throw await notPending(db, asking, now)
  const { publicKey, completed, organization } = given
  return {
    requestId: asking.requestId,
    status: completed ? ('signed' as const) : ('pending' as const),
    signature: written,
    publicKey,
    ...(completed && { resolvedAt: now.toISOString() }),
    organization,
  }
}

/** Finds the member who made a signature, among the members of one user; returns undefined if none did. */
async function verifySignatureOfMember(
  tx: Transaction,
  signatories: OrganizationSigner[],
  { payload, written }: { payload: string; written: string },
) {
  const signature = fromCanonicalBase64(written)
  if (!signature) return undefined
  const message = Buffer.from(payload, 'utf8')
  const signers = await answerStore.listSigners(tx, signatories.map(identityIdOf))
  const signer = signers.find(({ publicKey }) => verifies(message, signature, publicKey))
  const signatory = signatories.find(({ identityId }) => identityId === signer?.identityId)
  return signer && signatory && { ...signer, memberId: signatory.memberId, signature }
}

/**
 * Records that a member denies, which ends the request whatever has been signed. Throws `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `request_not_pending`.
 */
export async function denyForOrganization({ db, config }: Surroundings, asking: OrganizationRequestContext, now: Date) {
  const denied = await actingTransaction(db, asking.session, async (tx) => {
    await keepOrganization(tx, asking.organizationId)
    const [signatory] = await requireReader({ db: tx, config }, asking, now)
    const request = signatory && (await store.closeRequest(tx, asking, 'denied', now))
    if (!request) return false
    const { identityId } = signatory
    await recordAnswer(tx, 'organization.signing.denied', { asking, identityId, request, completes: true }, now)
    await enqueueSigningWebhooks(tx, [request], now)
    return true
  })
  if (!denied) throw await notPending(db, asking, now)
  return { requestId: asking.requestId, status: 'denied' as const, resolvedAt: now.toISOString() }
}

type Answered = {
  asking: OrganizationRequestContext
  identityId: IdentityId
  request: { clientId: ClientId }
  completes: boolean
}

async function recordAnswer(
  tx: Transaction,
  action: `organization.signing.${'signed' | 'approved' | 'denied'}`,
  { asking: { session, organizationId, requestId }, identityId, request: { clientId }, completes }: Answered,
  now: Date,
): Promise<void> {
  const { userId } = session
  const of = { userId, identityId, clientId, organizationId }
  await recordAuditEvent(tx, { action, actor: 'user', ...of, details: { requestId, completes } }, now)
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

async function notPending(db: Database, place: answerStore.OrganizationRequestKey, now: Date) {
  const { status } = await loadRequestWithExpiry(db, place, now)
  return errors.request_not_pending({ fields: { status: status satisfies SigningStatus } })
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
function chooseOwn(
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

function identityIdOf({ identityId }: OrganizationSigner): IdentityId {
  return identityId
}
