import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import {
  type Catalogue,
  fallbackLanguage,
  languageTags,
  textsIn,
} from '@countersign/protocol/formats/registries/languages'
import { ApiError } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import * as store from './notice-store.ts'

/** Subject and text of a notice, by the name of the organization and the address of its page. */
export type Notice = Catalogue<{ subject: (name: string) => string; text: (name: string, url: string) => string }>

/**
 * Mails a notice about the council of an organization to those of these identities that have an e-mail address. A mail
 * that cannot be sent stops nothing: the organization's page and audit log show the same.
 */
export async function sendNotice(
  { db, config, mail, log }: ServerContext,
  { organizationId, identityIds }: { organizationId: OrganizationId; identityIds: string[] },
  notice: Notice,
): Promise<void> {
  const url = `${config.businessUrl.origin}/organizations/${organizationId}/council`
  const addressees = await store.listEmails(db, organizationId, identityIds)
  await Promise.all(addressees.map(({ email, name }) => trySend(toMail(email, notice, { name, url }))))

  async function trySend(each: Mail): Promise<void> {
    try {
      await mail.send(each)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      log.warn({ organizationId, reason: error.code }, 'council notification mail failed')
    }
  }
}

/** Mails a notice to all signatories, also suspended ones, and to the owners. */
export async function notifyCouncil(kernel: ServerContext, organizationId: OrganizationId, notice: Notice) {
  await sendNotice(kernel, { organizationId, identityIds: await listAddressees(kernel.db, organizationId) }, notice)
}

/** Lists the identities that get a mail about a reset: all signatories, also suspended ones, and the owners. */
export function listAddressees(db: Database, organizationId: OrganizationId): Promise<IdentityId[]> {
  return store.listSignatoriesAndOwners(db, organizationId)
}

/** The languages of the addressees are unknown here, so each mail contains all. */
function toMail(to: string, notice: Notice, { name, url }: { name: string; url: string }): Mail {
  const all = new Set([fallbackLanguage, ...languageTags].map((language) => textsIn(notice, language)))
  const parts = [...all]
  return {
    to,
    subject: parts.map(({ subject }) => subject(name)).join(' / '),
    text: `${parts.map(({ text }) => text(name, url)).join('\n\n')}\n`,
  }
}
