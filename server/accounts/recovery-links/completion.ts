import type { IdentityId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import { lockAccountOfIdentity } from '#accounts/identities/suspension.ts'
import { grantKeyReset } from '#accounts/keys/key-reset.ts'
import { hasRoomForPasskey } from '#accounts/passkeys/passkey.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, rest } from '#platform/clock.ts'
import { type Transaction, transaction } from '#platform/database/database.ts'
import type { Background } from '#platform/module/define-module.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { adopt } from './limit.ts'
import { notifyOfCompletion } from './notice.ts'
import * as passkeyStore from './passkey-store.ts'
import type { LinkKey } from './store.ts'

type Services = { kernel: ServerContext; lifecycle: Lifecycle }
type Key = LinkKey & { identityId: IdentityId }

const batch = 20
const restMilliseconds = 10_000
/** Time after which another process attempts a step that was begun. */
const leaseSeconds = 600

/** Completes and settles recoveries that are due, as long as this process runs. Processes share the work by leases. */
export function startCompleting(services: Services): Background {
  const { log } = services.kernel
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      const count = await advanceDue(services).catch((error: unknown) =>
        log.warn({ error }, 'recoveries not attempted'),
      )
      if (count !== batch) await rest(restMilliseconds, stopped.signal)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

/** Leases a batch of recoveries whose next step is due, and attempts it. Returns their number. */
export async function advanceDue({ kernel, lifecycle }: Services): Promise<number> {
  const { db, clock, log } = kernel
  const now = clock()
  const leased = await passkeyStore.leaseDue(db, { now, until: addSeconds(now, leaseSeconds), batch })
  for (const key of leased) {
    try {
      const isCompleted = await transaction(db, async (tx) => {
        if (await complete(tx, lifecycle, key, clock())) return true
        await settle(tx, key, clock())
        return false
      })
      if (isCompleted) await notifyOfCompletion(kernel, key.userId)
    } catch (error) {
      log.error({ error, identityId: key.identityId }, 'step of a recovery failed')
    }
  }
  return leased.length
}

/**
 * Makes the passkey of a redeemed link valid, for its identity alone. All sessions and tokens of the account end, and
 * its operators lose their rights. Returns false if the recovery is not due, or was stopped.
 */
export async function complete(tx: Transaction, lifecycle: Lifecycle, key: Key, now: Date): Promise<boolean> {
  const { userId, recoveryLinkId, identityId } = key
  const account = await lockAccountOfIdentity(tx, identityId)
  if (account?.userId !== userId) return false
  const holdUntil = addSeconds(now, limits.recoveryHoldSeconds)
  if (!(await passkeyStore.completeLink(tx, key, { holdUntil }, now))) return false
  await passkeyStore.removeEarlierPasskeys(tx, key)
  const { identityIds } = account
  await lifecycle.end(tx, 'recovered', { userId, identityIds, connectedSince: null }, now)
  await lifecycle.end(tx, 'sessions', { userId, identityIds, which: 'all' }, now)
  const details = { recoveryLinkId, holdUntil: holdUntil.toISOString() }
  const event = { action: 'recovery_link.completed', actor: 'system', userId, identityId, details } as const
  await recordAuditEvent(tx, event, now)
  return true
}

/**
 * Ends the hold of a recovery. If the account has no other identity, the passkey becomes one of the account: there is
 * nothing else to keep from it. It can reset the keys, unless something has unlocked them meanwhile.
 */
async function settle(tx: Transaction, key: Key, now: Date): Promise<void> {
  const { userId, recoveryLinkId, identityId } = key
  const account = await lockAccountOfIdentity(tx, identityId)
  if (account?.userId !== userId) return
  const since = await passkeyStore.settleLink(tx, key, now)
  if (!since) return
  const details = { recoveryLinkId }
  const event = { action: 'recovery_link.settled', actor: 'system', userId, identityId, details } as const
  await recordAuditEvent(tx, event, now)
  if (account.identityIds.length > 1 || !(await hasRoomForPasskey(tx, userId))) return
  const adopted = await adopt(tx, { userId, recoveryLinkId }, now)
  if (adopted) await grantKeyReset(tx, { userId, credentialId: adopted.credentialId, since })
}
