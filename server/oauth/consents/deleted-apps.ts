import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { lockIdentityWithUser } from '#accounts/identities/identity.ts'
import { forgetEndedApps, lockEndedApps, setExamined } from '#clients/registration/deletion/ended-app.ts'
import { deletePublicKeysOfApp, takeAppKeysOfApps } from '#oauth/app-keys/former-app-key.ts'
import { revokeDelegationsAtMissing, revokeDelegationsOfApps } from '#oauth/delegation/delegation.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { continueEndings } from '#platform/module/batches.ts'
import { revokeFamiliesOfClient } from '#tokens/families/family.ts'
import * as store from './store.ts'

/** How many users a transaction disconnects: their rows stay locked until it ends. */
const disconnectedAtOnce = 20

/**
 * Disconnects users from apps that were deleted a while ago, as if they had done so: their keys stay for as long as
 * those of an app that a user disconnects. It reads all consents once for all apps that are due, a few at a time:
 * consents are not found by their app. Returns the number of those read, and of released public keys.
 */
export function endConsentsOfDeletedApps(db: Database, now: Date, batch: number): Promise<number> {
  return continueEndings(db, batch, async (tx, limit) => {
    const ended = await lockEndedApps(tx, now)
    if (!ended) return undefined
    const { clientIds, last } = ended
    if (clientIds.length === 0) return 0
    const examined = await store.listConsentsAfter(tx, last)
    const connected = examined.filter(({ clientId }) => clientIds.includes(clientId)).slice(0, disconnectedAtOnce)
    for (const consent of connected) await disconnect(tx, consent, now)
    const next = connected.length === disconnectedAtOnce ? connected.at(-1) : examined.at(-1)
    if (next) {
      // Each identity with a delegation has a consent: to the app that may act for it.
      await revokeDelegationsAtMissing(tx, { from: last.identityId, to: next.identityId }, now)
      await setExamined(tx, clientIds, next)
      return examined.length
    }
    for (const clientId of clientIds) {
      const count = await deletePublicKeysOfApp(tx, clientId, limit)
      if (count > 0) return count
    }
    await forgetEndedApps(tx, clientIds)
    return 0
  })
}

async function disconnect(
  tx: Transaction,
  { identityId, clientId }: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<void> {
  const identity = await lockIdentityWithUser(tx, identityId)
  // Otherwise the identity is being deleted, with its consents, or its user has disconnected the app.
  if (!identity || !(await store.deleteConsent(tx, identityId, clientId))) return
  await revokeFamiliesOfClient(tx, identityId, clientId, now)
  await takeAppKeysOfApps(tx, { userId: identity.userId, identityId, clientIds: [clientId] }, now)
  await revokeDelegationsOfApps(tx, identityId, [clientId], now)
  const act = { action: 'app.disconnected', actor: 'system', userId: identity.userId, identityId, clientId } as const
  await recordAuditEvent(tx, act, now)
}
