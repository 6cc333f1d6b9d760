import { randomUUIDv7 } from 'node:crypto'
import type { ImportError, InvitationImport, InvitationImportRow } from '@countersign/protocol/accounts/invitations'
import { limits } from '@countersign/protocol/formats/limits'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { findGroupsByKey, requireRightsOverMembers } from '#accounts/groups/group.ts'
import { requirePermissions, rightsOf } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { type AuditEvent, recordAuditEvents } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { afterCommit, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { describeInvitations } from './description.ts'
import * as store from './import-store.ts'
import { type ImportRow, parseImportFile } from './import-file.ts'
import { notifyMailing } from './mailing.ts'

const errors = defineErrors({
  invalid_import: [400, 'The file has bad rows, so that no one was invited.'],
  too_many_invitations: [409, `There can be at most ${limits.accountInvitationsMax} pending invitations.`],
})

export type ImportInput = {
  operator: Operator
  browserLanguage: Language
  text: string
  isCheck: boolean
  onError: 'abort' | 'skip'
}

/**
 * Invites the people of a file by mail, all or none, or those of its good rows (`skip`). The mails are sent in the
 * background. Addresses that are invited already are left out, and void invitations replaced. A check decides the same,
 * and invites no one. Throws `invalid_import`, which names the bad rows, `too_many_invitations`, `mail_not_set_up`,
 * `rate_limited`.
 */
export async function importInvitations(
  kernel: ServerContext,
  { isCheck, onError, text, ...inviting }: ImportInput,
  now: Date,
): Promise<InvitationImport> {
  const { db, mail, rateLimits } = kernel
  const { operator } = inviting
  mail.require()
  const limit = isCheck ? 'invitation-import-checks-per-operator' : 'invitation-imports-per-operator'
  await rateLimits.count(limit, operatorKeyOf(operator))
  const rows = parseImportFile(text)
  return operatorTransaction(db, operator, async (tx) => {
    if (!isCheck) await store.lockImports(tx)
    const { decided, replaced } = await decide(tx, { operator, rows }, now)
    const pending = (await store.countPending(tx, now)) - replaced.length
    const answer = summarize(decided)
    if (pending + answer.ok > limits.accountInvitationsMax) throw errors.too_many_invitations()
    if (isCheck) return answer
    const { total, failed } = answer
    if (failed > 0 && onError === 'abort') {
      const bad = answer.rows.filter(({ status }) => status === 'failed')
      throw errors.invalid_import({ fields: { total, failed, rows: bad } })
    }
    await deleteVoid(tx, operator, replaced, now)
    return invite(tx, { ...inviting, decided, answer }, now)
  })
}

/** A row with what becomes of it. */
type Decided = ImportRow & { status: InvitationImportRow['status']; groupIds: string[] }

/** Decides what becomes of each row, and which void invitations those of the rows replace. */
async function decide(
  tx: Transaction,
  { operator, rows }: { operator: Operator; rows: ImportRow[] },
  now: Date,
): Promise<{ decided: Decided[]; replaced: string[] }> {
  const found = await findGroupsByKey(tx, [...new Set(rows.flatMap(({ groups }) => groups))])
  const byKey = new Map(
    found.map((group) => {
      const { groupId } = group
      return [group.key, { groupId, refusal: refusalOf(() => requireRightsOverMembers(operator, group, now)) }]
    }),
  )
  const ofGroups = refusalOf(() => requirePermissions(operator, ['groups.manage']))
  const addresses = rows.map(({ email }) => email.toLowerCase()).filter((address) => address !== '')
  const mailed = await describeInvitations(tx, await store.findMailed(tx, addresses, now), now)
  // Its invited identity can be invited again.
  const voided = mailed.filter(({ status, identityId }) => status === 'void' && identityId === null)
  const invited = new Set(mailed.filter((each) => !voided.includes(each)).map(addressOf))
  const decided = rows.map((row): Decided => {
    const groups = row.groups.map((key) => ({ key, ...byKey.get(key) }))
    const unknown = groups.find(({ groupId }) => groupId === undefined)
    const refusal = groups.length > 0 ? ofGroups : undefined
    const faults = [...row.faults]
    if (refusal) faults.push(refusal)
    else if (unknown) faults.push(unknownGroup(unknown.key))
    else faults.push(...groups.flatMap((group) => group.refusal ?? []).slice(0, 1))
    const groupIds = groups.flatMap(({ groupId }) => groupId ?? [])
    const status = faults.length > 0 ? 'failed' : invited.has(row.email.toLowerCase()) ? 'already_invited' : 'ok'
    return { ...row, groupIds, faults, status }
  })
  const good = new Set(decided.filter(({ status }) => status === 'ok').map(addressOf))
  const replaced = voided.filter((each) => good.has(addressOf(each))).map(({ invitationId }) => invitationId)
  return { decided, replaced }
}

function addressOf({ email }: { email: string | null }): string {
  return email?.toLowerCase() ?? ''
}

/** Deletes void invitations. No one can use their links. Returns false if one was used or deleted meanwhile. */
export async function deleteVoid(
  tx: Transaction,
  operator: Operator,
  invitationIds: string[],
  now: Date,
): Promise<boolean> {
  if (invitationIds.length === 0) return true
  const deleted = await store.deleteUnused(tx, invitationIds)
  const act = { action: 'invitation.deleted', ...auditFieldsOf(operator) } as const
  await recordAll(
    tx,
    deleted.map((invitationId) => ({ ...act, details: { invitationId, kind: 'mail' } })),
    now,
  )
  return deleted.length === invitationIds.length
}

function unknownGroup(key: string): ImportError {
  return { field: 'groups', code: 'group_not_found', message: `No group has the key ${key.slice(0, 63)}.` }
}

/** Returns why an operator may not use a group, as an error of a row. */
function refusalOf(check: () => void): ImportError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message } = error
    const known = (['reauthentication_required', 'managed_elsewhere'] as const).find((each) => each === code)
    return { field: 'groups', code: known ?? 'permission_denied', message }
  }
}

function summarize(decided: Decided[]): InvitationImport {
  const count = (counted: Decided['status']) => decided.filter(({ status }) => status === counted).length
  const rows = decided.map(({ row, writtenEmail, status, faults }) => ({
    ...{ row, email: writtenEmail, status, invitationId: null, errors: faults },
  }))
  return { importId: null, total: decided.length, ok: count('ok'), failed: count('failed'), rows }
}

type Inviting = { operator: Operator; browserLanguage: Language; decided: Decided[]; answer: InvitationImport }

async function invite(
  tx: Transaction,
  { operator, browserLanguage, decided, answer }: Inviting,
  now: Date,
): Promise<InvitationImport> {
  const importId = randomUUIDv7()
  const accepted = decided.filter(({ status }) => status === 'ok')
  // In the order of the file, in which they are listed.
  const ids = accepted.map(() => randomUUIDv7()).toSorted()
  const invited = accepted.map((row, nth) => ({ row, invitationId: ids[nth] ?? '', groups: row.groups }))
  const inserted = invited.map(({ invitationId, row }) => {
    const { email, handle, displayName, groupIds, lifetimeSeconds } = row
    return {
      ...{ invitationId, kind: 'mail' as const, email, handle, displayName, groupIds, message: null, maxUses: 1 },
      // No one knows this token: the one that is mailed replaces it.
      tokenSha256: sha256(generateToken('accountInvitation')),
      language: row.language ?? browserLanguage,
      expiresAt: addSeconds(now, lifetimeSeconds),
      ...rightsOf(operator),
      identityId: null,
    }
  })
  await store.insertInvitations(tx, inserted, now)
  const about = { kind: 'mail', maxUses: 1, importId }
  const events = invited.map(({ invitationId, groups }) => ({
    ...{
      action: 'invitation.created' as const,
      ...auditFieldsOf(operator),
      details: { invitationId, groups, ...about },
    },
  }))
  await recordAll(tx, events, now)
  if (invited.length > 0) afterCommit(tx, notifyMailing)
  const idOf = new Map(invited.map(({ row, invitationId }) => [row.row, invitationId]))
  return { ...answer, importId, rows: answer.rows.map((row) => ({ ...row, invitationId: idOf.get(row.row) ?? null })) }
}

/** A statement can have 65,535 parameters. */
const eventsPerStatement = 1000

async function recordAll(tx: Transaction, events: AuditEvent[], now: Date): Promise<void> {
  for (let at = 0; at < events.length; at += eventsPerStatement)
    await recordAuditEvents(tx, events.slice(at, at + eventsPerStatement), now)
}
