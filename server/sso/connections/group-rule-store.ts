import { type RawBuilder, sql } from 'kysely'
import type { GroupRule } from '@countersign/protocol/organizations/sso'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Rule of a connection, which names a group by its ID. */
export type RuleRow = { ruleId: string; claim: string; value: string; groupId: string }

/** Lists the rules of a connection in their order, also those of deleted groups. */
export function listRules(db: Database | Transaction, connectionId: string): Promise<RuleRow[]> {
  return db
    .selectFrom('sso_group_rule')
    .select(['rule_id as ruleId', 'claim', 'value', 'group_id as groupId'])
    .where('connection_id', '=', connectionId)
    .orderBy('position')
    .execute()
}

/**
 * Selects the rules of a connection in their order, as JSON with the keys of groups. Rules of deleted groups are left
 * out.
 */
export function rulesOf(connectionId: RawBuilder<unknown>): RawBuilder<GroupRule[]> {
  return sql`(
    select coalesce(jsonb_agg(jsonb_build_object('claim', claim, 'value', value, 'group', key) order by position), '[]')
    from (
      select claim, value, position,
        (select key from user_group where user_group.group_id = rule.group_id and deleted_at is null) as key
      from sso_group_rule rule where rule.connection_id = ${connectionId}
    ) named
    where key is not null
  )`
}

/** Replaces the rules of a connection. */
export async function replaceRules(tx: Transaction, connectionId: string, rules: RuleRow[]): Promise<void> {
  await tx.deleteFrom('sso_group_rule').where('connection_id', '=', connectionId).execute()
  if (rules.length === 0) return
  await tx
    .insertInto('sso_group_rule')
    .values(
      rules.map(({ ruleId, claim, value, groupId }, position) => ({
        rule_id: ruleId,
        connection_id: connectionId,
        claim,
        value,
        group_id: groupId,
        position,
      })),
    )
    .execute()
}
