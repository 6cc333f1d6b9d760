import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { SigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { keepOrganization, requireSignatories, type Signatory } from '#organizations/membership/signatory.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import * as answerStore from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import { settled, tellApps, toProgress } from './organization-request.ts'
import { toMemberView } from './organization-view.ts'
import { bindSignature } from './signature-use.ts'

const refuse = refusals({
  invalid_signature: [400, 'This is no valid signature of this text by the signing key of a member that you are.'],
  insufficient_scope: [403, 'You may not do this for this organization.'],
  request_not_found: [404, 'There is no such signing request.'],
  app_not_active: [409, 'The app that asked is not active any more. The request can be denied.'],
  request_not_pending: [409, 'This request has been answered, or has expired.'],
  no_signing_key: [422, 'Give your identity a signing key first.'],
})

type Surroundings = Pick<Kernel, 'db' | 'config'>
type Asking = { session: Session } & answerStore.Place

/** Who asks of a request that is for an organization; undefined where it is for none. */
export async function findAsking(db: Database, session: Session, requestId: string): Promise<Asking | undefined> {
  const place = await store.findPlace(db, requestId)
  return place && { session, requestId, organizationId: place.organizationId }
}

/**
 * A request to an organization, as a member who signs or approves sees it. Refuses `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `no_signing_key`.
 */
export async function readOrganizationRequest(surroundings: Surroundings, asking: Asking, now: Date) {
  const { db } = surroundings
  const signatories = await requireReader(surroundings, asking, now)
  const [view] = await toMemberViews(db, [await settled(db, asking, now)], signatories)
  if (!view) throw refuse.no_signing_key()
  return view
}

/**
 * Keeps what a member has signed, to sign as the organization or to approve; with enough of it the request is signed.
 * What a person signed of it before is replaced: by the same identity only in the same role, since a signature belongs
 * to its first role also within one request. Refuses `request_not_found`, `insufficient_scope`,
 * `enterprise_sso_required`, `request_not_pending`, `app_not_active`, `reauthentication_required`,
 * `invalid_signature`, `signature_reused`.
 */
export async function answerForOrganization(
  { db, config }: Surroundings,
  { role, signature: written, ...asking }: Asking & { role: 'sign' | 'approve'; signature: string },
  now: Date,
) {
  const given = await actingTransaction(db, asking.session, async (tx) => {
    // What members may do stays as it is, and those who answer come one after another.
    await keepOrganization(tx, asking.organizationId)
    const signatories = await requireReader({ db: tx, config }, asking, now)
    const entitled = signatories.filter(({ maySign, mayApprove }) => (role === 'sign' ? maySign : mayApprove))
    if (entitled.length === 0) throw refuse.insufficient_scope()
    const request = await store.holdPending(tx, asking, now)
    if (!request) return undefined
    if (request.appStatus !== 'active') throw refuse.app_not_active()
    requireFresh(asking.session, now)
    const answer = await readAnswer(tx, entitled, { payload: request.payload, written })
    if (!answer || !(await answerStore.replaceAnswer(tx, asking, { ...answer, role }, now)))
      throw refuse.invalid_signature()
    const { identityId, signature } = answer
    const { organizationId } = asking
    await bindSignature(tx, signature, { identityId, clientId: request.clientId, role, organizationId })

    const completed = await store.completeRequest(tx, asking, now)
    const action = role === 'sign' ? 'organization.signing.signed' : 'organization.signing.approved'
    await recordAnswer(tx, action, { asking, identityId, request, completes: !!completed }, now)
    if (completed) await tellApps(tx, [completed], now)
    const organization = toProgress(request, await answerStore.listAnswers(tx, asking))
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

/** Whose signature it is, of these members of one person; undefined where it is none of theirs. */
async function readAnswer(
  tx: Transaction,
  signatories: Signatory[],
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
 * Records that a member denies, which ends it, whoever has signed. Refuses `request_not_found`, `insufficient_scope`,
 * `enterprise_sso_required`, `request_not_pending`.
 */
export async function denyForOrganization({ db, config }: Surroundings, asking: Asking, now: Date) {
  const denied = await actingTransaction(db, asking.session, async (tx) => {
    await keepOrganization(tx, asking.organizationId)
    const [signatory] = await requireReader({ db: tx, config }, asking, now)
    const request = signatory && (await store.endRequest(tx, asking, 'denied', now))
    if (!request) return false
    const { identityId } = signatory
    await recordAnswer(tx, 'organization.signing.denied', { asking, identityId, request, completes: true }, now)
    await tellApps(tx, [request], now)
    return true
  })
  if (!denied) throw await notPending(db, asking, now)
  return { requestId: asking.requestId, status: 'denied' as const, resolvedAt: now.toISOString() }
}

type Answered = { asking: Asking; identityId: string; request: { clientId: string }; completes: boolean }

async function recordAnswer(
  tx: Transaction,
  action: `organization.signing.${'signed' | 'approved' | 'denied'}`,
  { asking: { session, organizationId, requestId }, identityId, request: { clientId }, completes }: Answered,
  now: Date,
): Promise<void> {
  const { userId } = session
  const of = { userId, identityId, clientId, organizationId }
  await record(tx, { action, actor: 'person', ...of, details: { requestId, completes } }, now)
}

/**
 * As whom the person may read and answer. Refuses what `requireSignatories` does, and `request_not_found`: whoever is
 * no member is told of no request.
 */
export async function requireReader(surroundings: Surroundings, { session, organizationId }: Asking, now: Date) {
  const signatories = await requireSignatories(surroundings, session, organizationId, now)
  if (signatories.length === 0) throw refuse.request_not_found()
  return signatories
}

async function notPending(db: Database, place: answerStore.Place, now: Date) {
  const { status } = await settled(db, place, now)
  return refuse.request_not_pending({ fields: { status: status satisfies SigningStatus } })
}

/** Requests as one of their members sees them, without those for which the person has no signing key. */
export async function toMemberViews(
  db: Database,
  requests: store.StoredRequest[],
  signatories: Signatory[],
): Promise<SigningRequest[]> {
  if (requests.length === 0) return []
  const answers = Map.groupBy(await answerStore.listAnswersTo(db, requests), ({ requestId }) => requestId)
  const signers = await answerStore.listSigners(db, signatories.map(identityIdOf))
  return requests.flatMap((request) => {
    const given = answers.get(request.requestId) ?? []
    const members = signatories.filter(({ organization }) => organization.organizationId === request.organizationId)
    const own = chooseOwn(members, given, signers)
    return own ? [toMemberView(request, given, own)] : []
  })
}

/** As which of their members a person answers: as the one that has already, or as one that signs before others. */
function chooseOwn(signatories: Signatory[], answers: answerStore.StoredAnswer[], signers: answerStore.Signer[]) {
  const hasAnswered = (own: Signatory) => answers.some(({ identityId }) => identityId === own.identityId)
  const rank = (own: Signatory) => (hasAnswered(own) ? 2 : Number(own.maySign))
  for (const signatory of signatories.toSorted((a, b) => rank(b) - rank(a))) {
    const signer = signers.find(({ identityId }) => identityId === signatory.identityId)
    if (signer) return { ...signatory, ...signer }
  }
  return undefined
}

function identityIdOf({ identityId }: Signatory): string {
  return identityId
}
