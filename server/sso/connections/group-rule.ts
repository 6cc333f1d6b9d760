import { randomUUID } from 'node:crypto'
import type { GroupRule } from '@countersign/protocol/organizations/sso'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { expireMemberships } from '#accounts/groups/ending.ts'
import { renewMemberships, requireGroupsOfOrganization } from '#accounts/groups/upstream.ts'
import { isShown } from '@countersign/protocol/formats/display-name'
import { defineErrors } from '#platform/api-error.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Logger } from '#platform/observability/log.ts'
import { keepSlugForGroups } from '#organizations/members/slug.ts'
import type { UpstreamValue } from '#sso/providers/provider.ts'
import * as store from './group-rule-store.ts'
import type { RuleRow } from './group-rule-store.ts'

export { listRules } from './group-rule-store.ts'

const errors = defineErrors({ invalid_request: [400, 'groupRules contains an invisible character.'] })

/** Returns the names of the claims that the rules read. */
export function claimsOf(rules: Pick<GroupRule, 'claim'>[]): string[] {
  return [...new Set(rules.map(({ claim }) => claim))]
}

/** Returns the rules that apply to a user, from what the provider states. */
export function matchedRules(rules: RuleRow[], stated: UpstreamValue[]): string[] {
  const matches = ({ claim, value }: RuleRow) => stated.some((each) => each.claim === claim && each.value === value)
  return rules.filter(matches).map(({ ruleId }) => ruleId)
}

type Ruled = { connectionId: string; organization: { organizationId: OrganizationId; slug: string } }

/**
 * Replaces the rules of a connection, whose organization the caller has locked. Creates the groups that are missing.
 * Memberships end that only removed rules gave, also if another rule gives the same group by another value. Throws
 * `invalid_request` for a group that is not of this organization, and `too_many_groups`.
 */
export async function replaceGroupRules(
  tx: Transaction,
  { connectionId, organization }: Ruled,
  rules: GroupRule[],
  now: Date,
): Promise<void> {
  if (rules.some(({ claim, value }) => !isShown(claim) || !isShown(value))) throw errors.invalid_request()
  const keys = [...new Set(rules.map(({ group }) => group))]
  const groupIdOf = await requireOwnGroups(tx, organization, keys, now)
  const before = await store.listRules(tx, connectionId)
  const applied = rules.map(({ group, claim, value }) => {
    const rule = { claim, value, groupId: groupIdOf(group) }
    return { ...rule, ruleId: before.find((each) => isSameRule(each, rule))?.ruleId ?? randomUUID() }
  })
  await store.replaceRules(tx, connectionId, applied)
  const kept = applied.map(({ ruleId }) => ruleId)
  const removed = before.filter(({ ruleId }) => !kept.includes(ruleId))
  await expireMemberships(tx, { connectionId, groupIds: removed.map(({ groupId }) => groupId) }, now)
}

/**
 * Ends what the rules of a connection have given, whose organization the caller has locked. The rules stay, as new
 * ones: memberships by them last again, also while the cleanup still ends others.
 */
export async function endGivenByRules(tx: Transaction, connectionId: string, now: Date): Promise<void> {
  const rules = await store.listRules(tx, connectionId)
  if (rules.length === 0) return
  const renewed = rules.map((rule) => ({ ...rule, ruleId: randomUUID() }))
  await store.replaceRules(tx, connectionId, renewed)
  await expireMemberships(tx, { connectionId, groupIds: rules.map(({ groupId }) => groupId) }, now)
}

type Rule = Omit<RuleRow, 'ruleId'>

function isSameRule(one: Rule, other: Rule): boolean {
  return one.claim === other.claim && one.value === other.value && one.groupId === other.groupId
}

async function requireOwnGroups(tx: Transaction, organization: Ruled['organization'], keys: string[], now: Date) {
  const { organizationId, slug } = organization
  const { groups, isAdded } = await requireGroupsOfOrganization(tx, { organizationId, slug, keys }, now)
  if (isAdded) await keepSlugForGroups(tx, organization)
  const ids = new Map(groups.map(({ key, groupId }) => [key, groupId]))
  return (key: string) => {
    const groupId = ids.get(key)
    if (groupId === undefined) throw new Error(`the group ${key} is missing`)
    return groupId
  }
}

type SignedIn = {
  connection: { connectionId: string; organizationId: OrganizationId }
  identityId: IdentityId
  /** The rules that applied when the provider answered. */
  ruleIds: string[]
}

/**
 * Makes an identity, which the caller has locked with the organization, a member of the groups that its provider named,
 * as far as the connection still has these rules.
 */
export async function joinNamedGroups(
  tx: Transaction,
  { connection, identityId, ruleIds }: SignedIn,
  { now, log }: { now: Date; log: Logger },
): Promise<void> {
  const { connectionId, organizationId } = connection
  const rules = ruleIds.length > 0 ? await store.listRules(tx, connectionId) : []
  const applied = rules.filter(({ ruleId }) => ruleIds.includes(ruleId))
  const { leftOut } = await renewMemberships(tx, { identityId, organizationId, connectionId, applied }, now)
  if (leftOut.length > 0) log.warn({ identityId, groups: leftOut }, 'an identity is in too many groups to join others')
}
