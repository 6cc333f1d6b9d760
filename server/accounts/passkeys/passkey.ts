import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { forgetKeyWrap, listKeyWraps } from '#accounts/keys/key-wrap.ts'
import { actingPersonTransaction } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { isTaken, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { forgetProofs, isOpen } from '#accounts/sessions/proof.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { endSessions } from '#tokens/families/session.ts'
import type { Attested } from './attestation.ts'
import * as store from './store.ts'
import type { Credential } from './store.ts'

const refuse = refusals({
  credential_in_use: [409, 'This passkey belongs to an account already. Sign in with it.'],
  passkey_not_found: [404, 'None of your passkeys has this id.'],
  last_passkey: [409, 'This is your last passkey: without it you could not sign in. Add another one first.'],
  invalid_request: [400, 'A name has 1 to 80 visible characters.'],
})

/** The passkeys of a person, the oldest first. */
export async function listPasskeys(db: Database, userId: string): Promise<Passkey[]> {
  const opens = await opening(db, userId)
  return (await store.listCredentials(db, userId)).map((credential) => toPasskey(credential, opens))
}

/** Enrols a passkey that was just made. Refuses `credential_in_use`. */
export async function enrolPasskey(tx: Transaction, userId: string, made: Attested, now: Date): Promise<void> {
  await store.insertCredential(tx, { ...made, userId }, now).catch((error: unknown) => {
    throw isTaken(error, 'passkey_credential_pkey') ? refuse.credential_in_use() : error
  })
}

type Renaming = { session: Session; credentialId: string; name: string }

/** Names a passkey as its owner knows it. Refuses `passkey_not_found`, `invalid_request`. */
export async function renamePasskey(
  db: Database,
  { session, credentialId, name }: Renaming,
  now: Date,
): Promise<Passkey> {
  if (!isDisplayName(name)) throw refuse.invalid_request()
  const { userId } = session
  return actingTransaction(db, session, async (tx) => {
    const renamed = await store.setCredentialName(tx, userId, credentialId, name)
    if (!renamed) throw refuse.passkey_not_found()
    await record(tx, { action: 'passkey.renamed', actor: 'person', userId, details: { credentialId } }, now)
    return toPasskey(renamed, await opening(tx, userId))
  })
}

type Removing = { session: Session; credentialId: string }

/**
 * Removes a passkey with what it opened: its wrap of the person's keys, and the sessions. Answers whether the session
 * in which that is done goes on: another passkey has opened it, or proved in it since that the person is there. Refuses
 * `passkey_not_found`, `last_passkey`.
 */
export async function removePasskey(
  db: Database,
  { session, credentialId }: Removing,
  now: Date,
): Promise<{ goesOn: boolean }> {
  const { userId, sessionId } = session
  const removed = await actingPersonTransaction(db, session, async (tx) => {
    if (!(await store.deleteCredential(tx, userId, credentialId))) return undefined
    await forgetKeyWrap(tx, userId, credentialId)
    await forgetProofs(tx, { userId, sessionId, credentialId })
    const sessionsEnded = await endSessions(tx, { userId, which: 'of passkey', credentialId }, now)
    const details = { credentialId, sessionsEnded }
    await record(tx, { action: 'passkey.removed', actor: 'person', userId, details }, now)
    return { goesOn: await isOpen(tx, sessionId) }
  })
  if (removed) return removed
  const kept = await store.findCredential(db, credentialId)
  throw kept?.userId === userId ? refuse.last_passkey() : refuse.passkey_not_found()
}

/** Forgets the passkeys of a person who is going, and the ceremonies that they are amid. */
export async function forgetPasskeys(tx: Transaction, userId: string): Promise<void> {
  await store.deleteCredentialsOfUser(tx, userId)
  await store.deleteFlowsOfUser(tx, userId)
}

/** Whether a passkey signs in to any account. */
export async function isPasskeyKnown(db: Database, credentialId: string): Promise<boolean> {
  return (await store.findCredential(db, credentialId)) !== undefined
}

/** The passkeys that open a person's keys. */
async function opening(db: Database | Transaction, userId: string): Promise<Set<string | undefined>> {
  const wraps = await listKeyWraps(db, userId)
  return new Set(wraps.map(({ credentialId }) => credentialId))
}

function toPasskey(credential: Credential, opens: Set<string | undefined>): Passkey {
  return {
    credentialId: credential.credentialId,
    name: credential.name,
    createdAt: credential.createdAt.toISOString(),
    lastUsedAt: credential.lastUsedAt.toISOString(),
    backedUp: credential.backedUp,
    opensKeys: opens.has(credential.credentialId),
  }
}
