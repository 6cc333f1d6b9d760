import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'
import { entryFields, type IdentityEntryRow, invitedEntryFields } from './entry-store.ts'

type Details = Omit<IdentityEntryRow, 'createdAt'> & {
  createdAt: Date
  hasPasskey: boolean
  hasRecoveryCode: boolean
  hasSigningKey: boolean
  version: number
}

/** Finds an identity, with what its account has. */
export async function findIdentity(db: Database, identityId: IdentityId, now: Date): Promise<Details | undefined> {
  const users = await findKeys(db, db.selectFrom('identity').select('user_id').where('identity_id', '=', identityId))
  const { rows } = await sql<Details>`
    with passkey as materialized (
      select user_id from passkey_credential where user_id = any(${users}) limit 1
    ), recovery_code as materialized (
      select user_id from encryption_recovery_code where user_id = any(${users}) limit 1
    )
    select ${entryFields(now)}, version,
      exists (select from passkey) as "hasPasskey", exists (select from recovery_code) as "hasRecoveryCode",
      exists (
        select from signing_key where signing_key.identity_id = identity.identity_id and replaced_at is null
      ) as "hasSigningKey"
    from identity where identity_id = ${identityId}`.execute(db)
  return rows[0]
}

/** Finds an invited identity. No edit has changed it. */
export async function findInvited(db: Database, identityId: IdentityId): Promise<Details | undefined> {
  const { rows } = await sql<Details>`
    select ${invitedEntryFields}, 1 as version, false as "hasPasskey", false as "hasRecoveryCode",
      false as "hasSigningKey"
    from invited_identity identity where identity_id = ${identityId}`.execute(db)
  return rows[0]
}
