import type { AccountInvitation, InvitationVoidReason } from '@countersign/protocol/accounts/invitations'
import { isLanguage, type Language } from '@countersign/protocol/formats/registries/languages'
import { findGroups } from '#accounts/groups/group.ts'
import { readRights } from '#accounts/operators/acting-operator.ts'
import type { Database } from '#platform/database/database.ts'
import { listGroupIds } from './invited/invited-identity.ts'
import type { InvitationRow } from './store.ts'
import { voidReasonOf } from './void.ts'

/** Returns invitations as operators see them now. */
export async function describeInvitations(
  db: Database,
  rows: InvitationRow[],
  now: Date,
): Promise<AccountInvitation[]> {
  const links = rows.filter(({ kind }) => kind === 'link')
  const groupIdsOf = await listGroupIds(
    db,
    links.flatMap(({ identityId }) => identityId ?? []),
  )
  const groupIds = [...rows.flatMap((row) => row.groupIds), ...[...groupIdsOf.values()].flat()]
  const found = await findGroups(db, [...new Set(groupIds)])
  const byId = new Map(found.map((group) => [group.groupId, group]))
  const findAll = (ids: string[]) => ids.flatMap((groupId) => byId.get(groupId) ?? [])
  const heldBy = await readRights(db, rows, now)
  return rows.map((row) => {
    const groups = findAll(row.groupIds)
    const identityGroups = findAll(groupIdsOf.get(row.identityId ?? '') ?? [])
    const voidReason = voidReasonOf({ ...row, groups, identityGroups, held: heldBy(row) })
    return toInvitation(row, { groups, voidReason }, now)
  })
}

/** Returns an invitation as operators see it now. */
export async function describeInvitation(db: Database, row: InvitationRow, now: Date): Promise<AccountInvitation> {
  const [invitation] = await describeInvitations(db, [row], now)
  if (!invitation) throw new Error('an invitation was not described')
  return invitation
}

export function languageOf({ language }: Pick<InvitationRow, 'language'>): Language {
  return isLanguage(language) ? language : 'en'
}

type Present = { groups: { key: string }[]; voidReason: InvitationVoidReason | null }

function toInvitation(row: InvitationRow, { groups, voidReason }: Present, now: Date): AccountInvitation {
  const { invitationId, kind, email, handle, displayName, message, maxUses, useCount } = row
  const isUsed = useCount >= maxUses
  return {
    ...{ invitationId, kind, email, handle, displayName, message, maxUses, useCount },
    groups: groups.map(({ key }) => key),
    language: languageOf(row),
    status: isUsed ? 'used' : voidReason !== null ? 'void' : row.expiresAt <= now ? 'expired' : 'pending',
    voidReason: isUsed ? null : voidReason,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    mailedAt: row.mailedAt?.toISOString() ?? null,
    nextMailAt: isUsed ? null : (row.nextMailAt?.toISOString() ?? null),
    createdBy: row.operatorId,
    identityId: row.useCount === 0 ? row.identityId : null,
  }
}
