import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
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
  const { rows } = await sql<Details>`
    select ${entryFields(now)}, version,
      exists (select from passkey_credential where passkey_credential.user_id = identity.user_id) as "hasPasskey",
      exists (
        select from encryption_recovery_code where encryption_recovery_code.user_id = identity.user_id
      ) as "hasRecoveryCode",
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
