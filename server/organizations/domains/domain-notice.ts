import type { IdentityId } from '@countersign/protocol/ids'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { ApiError } from '#platform/api-error.ts'
import type { About } from './domain-mails.ts'
import * as store from './store.ts'
import type { DomainClaim } from './store.ts'

type Letter = (about: About) => Mail

/** How a mail to an owner ended. One that was not sent can be attempted again; one that was rejected cannot. */
type Outcome = 'sent' | 'unsent' | 'rejected'

/**
 * Sends a mail to the owners who have an e-mail address, except some. The audit log records the change in any case.
 */
export async function notifyOwners(
  { db, config, mail, log }: ServerContext,
  claim: DomainClaim,
  letter: Letter,
  except: string[] = [],
): Promise<{ identityId: IdentityId; outcome: Outcome }[]> {
  const owners = await store.listOwnerEmails(db, claim.organizationId)
  const others = owners.filter(({ identityId }) => !except.includes(identityId))
  return Promise.all(
    others.map(async ({ identityId, email, name }) => {
      const outcome = await trySend(letter({ to: email, organization: name, config, claim }))
      return { identityId, outcome }
    }),
  )

  async function trySend(each: Mail): Promise<Outcome> {
    try {
      await mail.send(each)
      return 'sent'
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      log.warn({ organizationId: claim.organizationId, reason: error.code }, 'domain notification mail failed')
      return error.code === 'temporarily_unavailable' ? 'unsent' : 'rejected'
    }
  }
}
