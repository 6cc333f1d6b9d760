import { addSeconds } from '#platform/clock.ts'
import { transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { storeCheckResult, applyCheckResult } from './domain.ts'
import { domainFailingMail } from './domain-mails.ts'
import { notifyOwners } from './domain-notice.ts'
import { gracePeriodEndsAt, lookUpTxtRecord } from './txt-record.ts'
import * as store from './store.ts'
import type { DomainClaim } from './store.ts'

const countMax = 40
/** Exceeds the time that a DNS lookup and the mails about it take. */
const leaseSeconds = 600

/** Checks the TXT records of verified domains that are due. Only one process checks each domain. */
export async function recheckDomains(kernel: ServerContext, now: Date): Promise<void> {
  const due = await store.leaseDueChecks(kernel.db, countMax, addSeconds(now, leaseSeconds), now)
  await Promise.all(due.map((claim) => recheckDomain(kernel, claim, now)))
}

async function recheckDomain(kernel: ServerContext, claim: DomainClaim, now: Date): Promise<void> {
  const look = await lookUpTxtRecord(kernel.dns, claim)
  const settled = await transaction(kernel.db, async (tx) => {
    const step = await applyCheckResult(tx, claim, { ...look, by: 'system' }, now)
    if (step?.event) await storeCheckResult(tx, claim, step.event, now)
    return step
  })
  if (!settled) return
  const { after } = settled
  const { failingSince, notifiedAt } = after
  if (failingSince === null || notifiedAt !== null) return
  const end = gracePeriodEndsAt(failingSince)
  const outcomes = await notifyOwners(kernel, after, (about) => domainFailingMail(about, end))
  if (outcomes.some(({ outcome }) => outcome === 'sent')) await store.markOwnersNotified(kernel.db, after, now)
}
