import type { AdminSuspension } from '@countersign/protocol/operations/people'
import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'
import { entryFields, type IdentityEntryRow, invitedEntryFields } from './entry-store.ts'
import { ownSuspension } from './filter-store.ts'

/** Instants are text, as the row comes out of JSON. */
type SuspensionRow = Omit<AdminSuspension, 'suspendedAt' | 'until'> & { suspendedAt: string; until: string | null }

type Details = Omit<IdentityEntryRow, 'createdAt'> & {
  createdAt: Date
  hasPasskey: boolean
  hasRecoveryCode: boolean
  hasSigningKey: boolean
  suspensions: SuspensionRow[]
  version: number
}

/** Finds an identity, with what its account has. */
export async function findIdentity(db: Database, identityId: IdentityId, now: Date): Promise<Details | undefined> {
  const { before, passkeys, codes } = await ofAccount(db, identityId)
  const { rows } = await sql<Details>`
    ${before} select ${entryFields(now)}, version - account_change_count as version,
      exists (${passkeys}) as "hasPasskey", exists (${codes}) as "hasRecoveryCode",
      exists (
        select from signing_key where signing_key.identity_id = identity.identity_id and replaced_at is null
      ) as "hasSigningKey",
      (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'source', own.source, 'scope', own.scope, 'reason', own.reason, 'suspendedAt', own.suspended_at,
            'until', own.suspended_until
          )
          order by own.source = 'operator' desc, own.suspended_at, own.source
        ), '[]') from ${ownSuspension(now)}
      ) as suspensions
    from identity where identity_id = ${identityId}`.execute(db)
  return rows[0]
}

/** Queries of what an account has, and what a distributed database reads `before`: the account is in other shards. */
async function ofAccount(db: Database, identityId: IdentityId) {
  const [ofPasskey, ofCode] = [
    sql`select user_id from passkey_credential`,
    sql`select user_id from encryption_recovery_code`,
  ]
  if (!isDistributed(db)) {
    const isOwn = sql`where user_id = identity.user_id`
    return { before: onOneServer, passkeys: sql`${ofPasskey} ${isOwn}`, codes: sql`${ofCode} ${isOwn}` }
  }
  const users = await findKeys(db, db.selectFrom('identity').select('user_id').where('identity_id', '=', identityId))
  const isOwn = sql`where user_id = any(${users}) limit 1`
  return {
    before: sql`with passkey as materialized (${ofPasskey} ${isOwn}), code as materialized (${ofCode} ${isOwn})`,
    passkeys: sql`select from passkey`,
    codes: sql`select from code`,
  }
}

/** Finds an invited identity. No edit has changed it. */
export async function findInvited(db: Database, identityId: IdentityId): Promise<Details | undefined> {
  const { rows } = await sql<Details>`
    select ${invitedEntryFields}, 1 as version, false as "hasPasskey", false as "hasRecoveryCode",
      false as "hasSigningKey", '[]'::jsonb as suspensions
    from invited_identity identity where identity_id = ${identityId}`.execute(db)
  return rows[0]
}
