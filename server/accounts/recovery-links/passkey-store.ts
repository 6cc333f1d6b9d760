import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'
import { type LinkKey, withoutPasskey } from './store.ts'

type NewPasskey = {
  credentialId: string
  userHandle: Uint8Array
  publicKey: Uint8Array
  signCount: number
  backupEligible: boolean
  backedUp: boolean
  transports: string[]
  name: string
}

/**
 * Redeems a link with a passkey, which becomes valid at `completesAt`. Returns false unless the link can be used, and
 * no other of the account locks it.
 */
export async function redeemLink(
  tx: Transaction,
  { userId, recoveryLinkId, tokenSha256 }: LinkKey & { tokenSha256: Uint8Array },
  { passkey, completesAt }: { passkey: NewPasskey; completesAt: Date },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('recovery_link')
    .set({
      ...{ state: 'redeemed', redeemed_at: now, completes_at: completesAt, attempt_at: completesAt, last_used_at: now },
      credential_id: passkey.credentialId,
      user_handle: passkey.userHandle,
      public_key: passkey.publicKey,
      sign_count: String(passkey.signCount),
      backup_eligible: passkey.backupEligible,
      backed_up: passkey.backedUp,
      transports: passkey.transports,
      name: passkey.name,
    })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .where('token_sha256', '=', tokenSha256)
    .where('state', '=', 'issued')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Makes the passkey of a redeemed link valid. Returns the identity, or undefined if it is not due. */
export function completeLink(
  tx: Transaction,
  { userId, recoveryLinkId }: LinkKey,
  { holdUntil }: { holdUntil: Date },
  now: Date,
): Promise<{ identityId: IdentityId } | undefined> {
  return tx
    .updateTable('recovery_link')
    .set({ state: 'completed', completed_at: now, hold_until: holdUntil, attempt_at: holdUntil })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .where('state', '=', 'redeemed')
    .where('completes_at', '<=', now)
    .returning('identity_id as identityId')
    .executeTakeFirst()
}

/** Removes the passkeys of earlier recoveries of an identity. They are lost, or a stranger has them. */
export async function removeEarlierPasskeys(
  tx: Transaction,
  { userId, recoveryLinkId, identityId }: LinkKey & { identityId: IdentityId },
): Promise<void> {
  await tx
    .updateTable('recovery_link')
    .set(withoutPasskey)
    .where('user_id', '=', userId)
    .where('identity_id', '=', identityId)
    .where('recovery_link_id', '!=', recoveryLinkId)
    .where('state', '=', 'settled')
    .execute()
}

/** Ends the hold of a completed recovery. Returns when its passkey was created, or undefined if it has not passed. */
export async function settleLink(
  tx: Transaction,
  { userId, recoveryLinkId }: LinkKey,
  now: Date,
): Promise<Date | undefined> {
  const settled = await tx
    .updateTable('recovery_link')
    .set({ state: 'settled', attempt_at: null })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .where('state', '=', 'completed')
    .where('hold_until', '<=', now)
    .returning('redeemed_at as redeemedAt')
    .executeTakeFirst()
  return settled?.redeemedAt ?? undefined
}

/** A passkey to take out of a link: by the link, or by the passkey of a session. */
type Taking = { userId: UserId } & ({ recoveryLinkId: string } | { credentialId: string })

/**
 * Takes the valid passkey out of a link, which is settled by that. Returns undefined if there is none. The old values
 * are read with the lock of the user, so that nothing changes them in between.
 */
export async function takePasskey(tx: Transaction, taking: Taking) {
  const taken = await tx
    .selectFrom('recovery_link')
    .select([...passkey, 'sign_count as signCount', 'backed_up as backedUp', 'transports', 'name'])
    .where('user_id', '=', taking.userId)
    .where('state', 'in', ['completed', 'settled'])
    .$if('recoveryLinkId' in taking, (all) =>
      all.where('recovery_link_id', '=', 'recoveryLinkId' in taking ? taking.recoveryLinkId : ''),
    )
    .$if('credentialId' in taking, (all) =>
      all.where('credential_id', '=', 'credentialId' in taking ? taking.credentialId : ''),
    )
    .where('credential_id', 'is not', null)
    .forUpdate()
    .executeTakeFirst()
  if (!taken) return undefined
  await tx
    .updateTable('recovery_link')
    .set({ state: 'settled', attempt_at: null, ...withoutPasskey })
    .where('user_id', '=', taking.userId)
    .where('recovery_link_id', '=', taken.recoveryLinkId)
    .execute()
  return taken
}

const passkey = [
  'user_id as userId',
  'recovery_link_id as recoveryLinkId',
  'identity_id as identityId',
  'hold_until as holdUntil',
  'credential_id as credentialId',
  'user_handle as userHandle',
  'public_key as publicKey',
  'backup_eligible as backupEligible',
] as const

/** Finds a valid passkey of a recovery. */
export function findPasskey(db: Database, credentialId: string) {
  return db
    .selectFrom('recovery_link')
    .select(passkey)
    .where('credential_id', '=', credentialId)
    .where('state', 'in', ['completed', 'settled'])
    .executeTakeFirst()
}

/** Checks whether a recovery has this passkey, valid or not yet. */
export async function hasPasskey(db: Database, credentialId: string): Promise<boolean> {
  const row = db.selectFrom('recovery_link').select('state').where('credential_id', '=', credentialId)
  return (await row.executeTakeFirst()) !== undefined
}

type Use = { credentialId: string; signCount: number; backedUp: boolean }

/** Records the use of a valid passkey. Returns undefined if there is none, or if a counter did not increase. */
export function countUse(tx: Transaction, { credentialId, signCount, backedUp }: Use, now: Date) {
  return tx
    .updateTable('recovery_link')
    .set({ sign_count: String(signCount), backed_up: backedUp, last_used_at: now })
    .where('credential_id', '=', credentialId)
    .where('state', 'in', ['completed', 'settled'])
    .where(({ eb, and, or }) =>
      or([eb('sign_count', '<', String(signCount)), and([eb('sign_count', '=', '0'), eb.val(signCount === 0)])]),
    )
    .returning(passkey)
    .executeTakeFirst()
}

/** Leases up to `batch` links whose next step is due, until an instant. Processes share them. */
export async function leaseDue(
  db: Database,
  { now, until, batch }: { now: Date; until: Date; batch: number },
): Promise<(LinkKey & { identityId: IdentityId })[]> {
  const { rows } = await sql<LinkKey & { identityId: IdentityId }>`
    update recovery_link set attempt_at = ${until}
    where (user_id, recovery_link_id) in (
      select user_id, recovery_link_id from recovery_link where attempt_at <= ${now}
      order by attempt_at, recovery_link_id limit ${sql.lit(batch)} ${lockUnlocked(db)}
    )
    returning user_id as "userId", recovery_link_id as "recoveryLinkId", identity_id as "identityId"`.execute(db)
  return rows
}
