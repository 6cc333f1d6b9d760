import type { Kernel } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { Refusal } from '#platform/refusal.ts'
import type { About } from './domain-mails.ts'
import * as store from './store.ts'
import type { Claim } from './store.ts'

type Letter = (about: About) => Mail

/** Writes to the owners who have an address. False where it could not be sent to any of them: the audit log has it. */
export async function tellOwners({ db, config, mail, log }: Kernel, claim: Claim, letter: Letter): Promise<boolean> {
  const owners = await store.listOwnersToTell(db, claim.organizationId)
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
