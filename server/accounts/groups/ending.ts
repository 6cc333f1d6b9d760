import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { continueEndings, endedAtOnce } from '#platform/module/batches.ts'
import * as store from './ending-store.ts'
import type { GroupEnding } from './ending-store.ts'
import { sourceOf } from './upstream.ts'
import { lockGroups } from './upstream-store.ts'

/** The source of an ending that concerns all SSO connections of the organization. */
const everySource = 'upstream'

type Given = { connectionId: string; groupIds: string[] }

/**
 * Ends what an SSO connection has made identities members of in some groups, unless one of its current rules gives it.
 * The caller has locked its organization. Claims and access count it until the cleanup tasks have run, which is within
 * a minute, or later for groups with very many members: the request ends 1,000 memberships, and the cleanup the others.
 * A rule that is added meanwhile, and a sign-in by it, give memberships that stay.
 */
export async function expireMemberships(tx: Transaction, { connectionId, groupIds }: Given, now: Date): Promise<void> {
  await beginEndings(tx, { groupIds: [...new Set(groupIds)].toSorted(), source: sourceOf(connectionId) }, now)
}

/**
 * Ends what the identity providers of an organization have made identities members of. The caller has locked it, and it
 * is not active while `isEndingMemberships`. Like `expireMemberships`, it counts until the cleanup tasks have run.
 */
export async function expireMembershipsOfOrganization(
  tx: Transaction,
  organizationId: OrganizationId,
  now: Date,
): Promise<void> {
  await beginEndings(tx, { groupIds: await store.listGroupIds(tx, organizationId), source: everySource }, now)
}

/** Tells if memberships in the groups of an organization still end because it was suspended. */
export async function isEndingMemberships(tx: Transaction, organizationId: OrganizationId): Promise<boolean> {
  const groupIds = await store.listGroupIds(tx, organizationId)
  return groupIds.length > 0 && (await store.isEnding(tx, groupIds, everySource))
}

/** Ends up to `batch` memberships of groups in which requests have left some. Returns their number. */
export function continueGroupEndings(db: Database, now: Date, batch: number): Promise<number> {
  return continueEndings(db, batch, async (tx, limit) => {
    const ending = await store.findEnding(tx)
    return ending && continueEnding(tx, ending, limit, now)
  })
}

async function beginEndings(
  tx: Transaction,
  { groupIds, source }: { groupIds: string[]; source: string },
  now: Date,
): Promise<void> {
  if (groupIds.length === 0) return
  await store.insertEndings(tx, groupIds, source)
  let left = endedAtOnce
  for (const groupId of groupIds) {
    if (left === 0) return
    left -= await continueEnding(tx, { groupId, source }, left, now)
  }
}

/** Ends the memberships of up to `limit` members of a group. Returns their number. */
async function continueEnding(tx: Transaction, ending: GroupEnding, limit: number, now: Date): Promise<number> {
  const { groupId, source } = ending
  const locked = await store.lockEnding(tx, ending)
  if (!locked) return 0
  // A sign-in locks the groups that it gives by current rules: it is visible here, or finds what ends here.
  await lockGroups(tx, [groupId])
  const identityIds = await store.listMemberIds(tx, groupId, { after: locked.lastId, count: limit })
  const given = source === everySource ? undefined : { source, ruleIds: await rulesOf(tx, source) }
  if (identityIds.length > 0) await store.expireMemberships(tx, { groupId, identityIds, ...(given && { given }) }, now)
  await store.updateEnding(tx, ending, identityIds.length < limit ? undefined : identityIds.at(-1))
  return identityIds.length
}

function rulesOf(tx: Transaction, source: string): Promise<string[]> {
  return store.listRuleIds(tx, source.slice(sourceOf('').length))
}
