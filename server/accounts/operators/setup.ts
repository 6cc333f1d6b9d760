import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { findIdentity, lockOwnIdentity } from '#accounts/identities/identity.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireRecentAuthentication, type Session } from '#accounts/sessions/session.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { type Database, isReadOnly, type Transaction } from '#platform/database/database.ts'
import type { RegistrationPart } from '#platform/module/define-module.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './setup-store.ts'

const errors = defineErrors({
  setup_done: [409, 'This service has an operator already.'],
  setup_link_expired: [410, 'The setup link is wrong or has expired. Each start of the service creates a new one.'],
})

/** Link with which the first operator sets up the service, and the file that contains it, if it could be written. */
export type SetupLink = { url: string; path: string | undefined }

/**
 * Creates a setup link, and writes it to the data directory, readable by its owner only. Every process of the service
 * that starts without an operator creates one; the first use ends all. Returns undefined if there is an operator, or
 * the database is read-only.
 */
export async function offerSetup(db: Database, config: Config, now: Date): Promise<SetupLink | undefined> {
  const path = join(config.dataDirectory, 'setup-link')
  const token = generateToken('setup')
  const link = { tokenSha256: sha256(token), expiresAt: addSeconds(now, limits.setupLinkLifetimeSeconds) }
  const isOffered = await store.insertLink(db, link, now).catch((error: unknown) => {
    if (isReadOnly(error)) return false
    throw error
  })
  const url = `${config.authUrl.origin}/setup#${token}`
  const isWritten = await replaceFile(path, isOffered ? `${url}\n` : undefined)
  return isOffered ? { url, path: isWritten ? path : undefined } : undefined
}

/** Replaces or removes a file. Returns false if the directory does not exist or is not writable. */
async function replaceFile(path: string, text: string | undefined): Promise<boolean> {
  try {
    await rm(path, { force: true })
    if (text !== undefined) await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch {
    return false
  }
}

/** Throws `setup_done` or `setup_link_expired` if a link cannot be used now. */
export async function requireSetupLink(db: Database, token: string, now: Date): Promise<void> {
  if (await store.hasOperator(db)) throw errors.setup_done()
  if (!(await store.linkExists(db, sha256(token), now))) throw errors.setup_link_expired()
}

/** Makes an identity of a signed-in user the owner. Throws `setup_done`, `setup_link_expired`, `identity_not_found`. */
export async function completeSetup(
  db: Database,
  session: Session,
  { setup, identityId }: { setup: string; identityId: IdentityId },
  now: Date,
): Promise<void> {
  requireRecentAuthentication(session, now)
  await actingTransaction(db, session, async (tx) => {
    await lockOwnIdentity(tx, session, identityId, now)
    await becomeOwner(tx, { setup, identityId }, now)
  })
}

/** Setup link of a registration, which makes the new identity the owner. */
export const setupOfRegistration: RegistrationPart = {
  async started({ db, clock }, { setup }) {
    if (setup !== undefined) await requireSetupLink(db, setup, clock())
    return {}
  },
  finished(_kernel, { setup }) {
    if (setup === undefined) return undefined
    return async (tx, { identityId }, now) => {
      await becomeOwner(tx, { setup, identityId }, now)
      return {}
    }
  },
}

async function becomeOwner(
  tx: Transaction,
  { setup, identityId }: { setup: string; identityId: IdentityId },
  now: Date,
): Promise<void> {
  if (!(await store.insertFirstOwner(tx, { identityId, tokenSha256: sha256(setup) }, now)))
    throw (await store.hasOperator(tx)) ? errors.setup_done() : errors.setup_link_expired()
  await store.deleteLinks(tx)
  const identity = await findIdentity(tx, identityId)
  const event = {
    action: 'operator.added',
    actor: 'user',
    identityId,
    details: { role: 'owner', by: 'setup' },
  } as const
  await recordAuditEvent(tx, { ...event, ...(identity && { userId: identity.userId }) }, now)
}

/** Deletes up to `batch` expired setup links. Returns their number. */
export function pruneSetupLinks(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredLinks(db, now, batch)
}
