import type { IdentityId } from '@countersign/protocol/ids'
import { endIdentity } from '#accounts/account/deletion.ts'
import {
  findDeletion,
  leaseDueDeletions,
  lockAccountOfIdentity,
  recordRefusal,
  suspendsAccount,
  type DeletionRow,
} from '#accounts/identities/suspension.ts'
import { requireNoOperators } from '#accounts/operators/operator.ts'
import { ApiError } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, rest } from '#platform/clock.ts'
import { type Transaction, transaction } from '#platform/database/database.ts'
import type { Background } from '#platform/module/define-module.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'

type Services = { kernel: ServerContext; lifecycle: Lifecycle }
type Key = Pick<DeletionRow, 'userId' | 'identityId'>

const batch = 20
const restMilliseconds = 30_000
/** Time after which another process attempts a deletion that was begun. */
const leaseSeconds = 600
/** Time between attempts at a deletion that a rule refuses. */
const refusedSeconds = 3600

/** Deletes identities that are due, as long as this process runs. Processes share the work by leases. */
export function startDeleting(services: Services): Background {
  const { log } = services.kernel
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      const count = await deleteDue(services).catch((error: unknown) => log.warn({ error }, 'deletions not attempted'))
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

/** Leases a batch of deletions that are due, and attempts each. Returns their number. */
export async function deleteDue(services: Services): Promise<number> {
  const { db, clock, log } = services.kernel
  const now = clock()
  const leased = await leaseDueDeletions(db, { now, until: addSeconds(now, leaseSeconds), batch })
  for (const key of leased) {
    try {
      await attempt(services, key)
    } catch (error) {
      log.error({ error, identityId: key.identityId }, 'deletion of an identity failed')
    }
  }
  return leased.length
}

/**
 * Deletes an identity, unless it was restored. A rule that refuses it, such as `last_owner`, leaves it suspended, and
 * it is attempted again every hour. A suspension of the account through the identity ends with it, but not for
 * operators in the account.
 */
async function attempt({ kernel, lifecycle }: Services, key: Key): Promise<void> {
  const { db, clock } = kernel
  try {
    await transaction(db, async (tx) => {
      const due = await lockDue(tx, key, clock())
      if (!due) return
      const endsSuspension = await suspendsAccount(tx, key, clock())
      // It would free operators from the suspension of their account, and the right to do so was not checked.
      if (endsSuspension) await requireNoOperators(tx, due.siblingIds)
      await endIdentity(tx, lifecycle, { ...key, by: 'system' }, clock())
      const end = { action: 'identity.activated', actor: 'system', ...key } as const
      if (endsSuspension) await recordAuditEvent(tx, end, clock())
      await recordAuditEvent(tx, { action: 'identity.deleted', actor: 'system', ...key }, clock())
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await refuse(kernel, key, error.code)
  }
}

/** Records a refusal. The audit log has the first of several for the same reason. */
async function refuse({ db, clock }: ServerContext, key: Key, refusal: string): Promise<void> {
  const now = clock()
  await transaction(db, async (tx) => {
    if (!(await lockDue(tx, key, now))) return
    if (!(await recordRefusal(tx, key, { refusal, attemptAt: addSeconds(now, refusedSeconds) }))) return
    const event = { action: 'identity.deletion_refused', actor: 'system', ...key, details: { error: refusal } } as const
    await recordAuditEvent(tx, event, now)
  })
}

/**
 * Locks the account of an identity. Returns the other identities of the account, or undefined if the identity is not
 * due for deletion any more.
 */
async function lockDue(tx: Transaction, key: Key, now: Date): Promise<{ siblingIds: IdentityId[] } | undefined> {
  const account = await lockAccountOfIdentity(tx, key.identityId)
  if (!account) return undefined
  const found = await findDeletion(tx, key)
  if (!found || found.dueAt > now) return undefined
  return { siblingIds: account.identityIds.filter((each) => each !== key.identityId) }
}
