import type { ResponseOf } from '@countersign/protocol/api'
import type { IdentityId } from '@countersign/protocol/ids'
import type { OrganizationDocument } from '@countersign/protocol/signing/organization-documents'
import { listMembershipsOfSession } from '#organizations/membership/member.ts'
import { type MemberContext, requireMember } from '#organizations/membership/access.ts'
import { countSignatories, listSignatories } from '#organizations/membership/signatory.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { toRequestingApp } from '#signing/requests/apps/metadata.ts'
import * as answerStore from './organization-answer-store.ts'
import type { StoredMemberSignature } from './organization-answer-store.ts'
import { titleOf } from '#signing/requests/text-title.ts'
import * as store from './document-store.ts'
import type { DocumentState, Position, StoredDocument } from './document-store.ts'

type Page = { cursor: string | undefined; count: number; state: DocumentState }

/**
 * Lists the signing requests to an organization for any of its members, newest first: at most `count`, from the end of
 * the previous page. What a text says is seen only by those who may sign or approve. Throws the errors of
 * `requireMember`.
 */
export async function listDocuments(
  kernel: Pick<ServerContext, 'db' | 'config'>,
  asking: MemberContext,
  { cursor, count, state }: Page,
  now: Date,
): Promise<ResponseOf<'GET /api/organizations/:organizationId/signing-requests'>> {
  const { db } = kernel
  const { session, organizationId } = asking
  await requireMember(kernel, asking, 'read', now)
  const before = cursor === undefined ? undefined : readPosition(cursor)
  const found = await store.listDocuments(db, organizationId, { before, count: count + 1, state }, now)
  const shown = found.slice(0, count)
  const places = shown.map(({ requestId }) => ({ organizationId, requestId }))
  const answers = await answerStore.listMemberSignaturesOf(db, places)
  const names = await store.readDisplayNames(db, [...new Set(answers.map(({ identityId }) => identityId))])
  const memberships = await listMembershipsOfSession(db, session, { organizationId })
  const signatories = (await listSignatories(db, session, now)).filter(
    ({ organization }) => organization.organizationId === organizationId,
  )
  const reader = { isSignatory: signatories.length > 0, own: new Set(memberships.map(({ memberId }) => memberId)) }
  const byRequest = Map.groupBy(answers, ({ requestId }) => requestId)
  const last = shown.at(-1)
  return {
    documents: shown.map((each) =>
      toDocument(each, { answers: byRequest.get(each.requestId) ?? [], names }, reader, now),
    ),
    nextCursor: last && found.length > count ? `${last.createdAt.getTime()}-${last.requestId}` : null,
    waiting: await store.countWaiting(db, organizationId, now),
    maySign: signatories.some(({ maySign }) => maySign),
    mayApprove: signatories.some(({ mayApprove }) => mayApprove),
    ...(await countSignatories(db, organizationId)),
  }
}

type Answers = { answers: StoredMemberSignature[]; names: Map<IdentityId, string> }
type Reader = { isSignatory: boolean; own: Set<string> }

function toDocument(
  document: StoredDocument,
  { answers, names }: Answers,
  { isSignatory, own }: Reader,
  now: Date,
): OrganizationDocument {
  const isOverdue = document.status === 'pending' && document.expiresAt <= now
  const status = isOverdue ? 'expired' : document.status
  const { clientId, name, iconUrl } = toRequestingApp({
    ...{ ...document, status },
    ...{ appWebsiteUrl: null, appRedirectUris: null },
  })
  const counting = isOverdue ? [] : answers
  const approvals = counting.filter(({ role }) => role === 'approve').length
  return {
    requestId: document.requestId,
    app: { clientId, name, iconUrl },
    title: isSignatory ? titleOf(document.beginning, titleCharactersMax) : null,
    status,
    createdAt: document.createdAt.toISOString(),
    expiresAt: document.expiresAt.toISOString(),
    ...(document.resolvedAt && { resolvedAt: document.resolvedAt.toISOString() }),
    isSigned: counting.length > approvals,
    approvals,
    approvalsNeeded: document.approvalsNeeded,
    answered: counting.find(({ memberId }) => own.has(memberId))?.role ?? null,
    answers: counting.map(({ identityId, memberId, signedAs, role, answeredAt }) => ({
      ...{ memberId, role },
      handle: signedAs,
      displayName: names.get(identityId) ?? null,
      at: answeredAt.toISOString(),
    })),
  }
}

const titleCharactersMax = 120

function readPosition(cursor: string): Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), requestId: cursor.slice(end + 1) }
}
