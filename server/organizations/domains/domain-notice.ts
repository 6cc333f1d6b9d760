import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { ApiError } from '#platform/api-error.ts'
import type { About } from './domain-mails.ts'
import * as store from './store.ts'
import type { DomainClaim } from './store.ts'

type Letter = (about: About) => Mail

/**
 * Sends a mail to the owners who have an e-mail address. Returns false if it could not be sent to any of them; the
 * audit log records the change in any case.
 */
export async function notifyOwners(
  { db, config, mail, log }: ServerContext,
  claim: DomainClaim,
  letter: Letter,
): Promise<boolean> {
  const owners = await store.listOwnerEmails(db, claim.organizationId)
  const mails = owners.map(({ email, name }) => letter({ to: email, organization: name, config, claim }))
  const sent = await Promise.all(mails.map((each) => trySend(each)))
  return sent.includes(true)

  async function trySend(each: Mail): Promise<boolean> {
    try {
      await mail.send(each)
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      log.warn({ organizationId: claim.organizationId, reason: error.code }, 'domain notification mail failed')
      return false
    }
  }
}
