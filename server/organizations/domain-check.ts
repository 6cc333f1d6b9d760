import { secondsAfter } from '#kernel/clock.ts'
import { transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import type { Mail } from '#kernel/mail.ts'
import { Refusal } from '#kernel/refusal.ts'
import { recordFinding, settleFinding } from './domain.ts'
import { failingMail, lostMail, type About } from './domain-mails.ts'
import { graceEndOf, lookForProof } from './domain-proof.ts'
import { leaseDue, listOwnersToTell, noteTold, type Claim } from './domain-store.ts'

const countMax = 40
/** Longer than a look at the DNS and the mails about it take. */
const leaseSeconds = 600

/** Looks whether verified domains that are due still have their proofs, each once among all processes. */
export async function recheckDomains(kernel: Kernel, now: Date): Promise<void> {
  const due = await leaseDue(kernel.db, countMax, secondsAfter(now, leaseSeconds), now)
  await Promise.all(due.map((claim) => recheckDomain(kernel, claim, now)))
}

async function recheckDomain(kernel: Kernel, claim: Claim, now: Date): Promise<void> {
  const finding = await lookForProof(kernel.nameServers, claim)
  const settled = await transaction(kernel.db, async (tx) => {
    const step = await settleFinding(tx, claim, { finding, by: 'system' }, now)
    if (step?.event) await recordFinding(tx, claim, step.event, now)
    return step
  })
  if (!settled) return
  const { after, event } = settled
  if (event === 'organization.domain.lost') await tellOwners(kernel, after, lostMail)
  const { failingSince, toldAt } = after
  if (failingSince === null || toldAt !== null) return
  const warned = await tellOwners(kernel, after, (about) => failingMail(about, graceEndOf(failingSince)))
  if (warned) await noteTold(kernel.db, after, now)
}

type Letter = (about: About) => Mail

/** Writes to the owners who have an address. False where it could not be sent to any of them: the trail has it. */
async function tellOwners({ db, config, mail, log }: Kernel, claim: Claim, letter: Letter): Promise<boolean> {
  const owners = await listOwnersToTell(db, claim.organizationId)
  const mails = owners.map(({ email, name }) => letter({ to: email, organization: name, config, claim }))
  const sent = await Promise.all(mails.map((each) => trySend(each)))
  return sent.includes(true)

  async function trySend(each: Mail): Promise<boolean> {
    try {
      await mail.send(each)
      return true
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      log.warn({ organizationId: claim.organizationId, reason: error.code }, 'an owner was not told of a domain')
      return false
    }
  }
}
