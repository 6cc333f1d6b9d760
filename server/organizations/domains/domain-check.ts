import { secondsAfter } from '#platform/clock.ts'
import { transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { recordFinding, settleFinding } from './domain.ts'
import { failingMail, lostMail } from './domain-mails.ts'
import { tellOwners } from './domain-notice.ts'
import { graceEndOf, lookForProof } from './domain-proof.ts'
import * as store from './store.ts'
import type { Claim } from './store.ts'

const countMax = 40
/** Longer than a look at the DNS and the mails about it take. */
const leaseSeconds = 600

/** Looks whether verified domains that are due still have their proofs, each once among all processes. */
export async function recheckDomains(kernel: Kernel, now: Date): Promise<void> {
  const due = await store.leaseDue(kernel.db, countMax, secondsAfter(now, leaseSeconds), now)
  await Promise.all(due.map((claim) => recheckDomain(kernel, claim, now)))
}

async function recheckDomain(kernel: Kernel, claim: Claim, now: Date): Promise<void> {
  const look = await lookForProof(kernel.nameServers, claim)
  const settled = await transaction(kernel.db, async (tx) => {
    const step = await settleFinding(tx, claim, { ...look, by: 'system' }, now)
    if (step?.event) await recordFinding(tx, claim, step.event, now)
    return step
  })
  if (!settled) return
  const { after, event } = settled
  if (event === 'organization.domain.lost') await tellOwners(kernel, after, lostMail)
  const { failingSince, toldAt } = after
  if (failingSince === null || toldAt !== null) return
  const warned = await tellOwners(kernel, after, (about) => failingMail(about, graceEndOf(failingSince)))
  if (warned) await store.noteTold(kernel.db, after, now)
}
