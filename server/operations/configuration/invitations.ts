import type { DeclaredInvitation } from '@countersign/protocol/operations/configuration'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import {
  countMail,
  deleteInvitation,
  findInvitationsOf,
  mailInvitation,
  readInvitation,
  storeInvitation,
  type StoredInvitation,
} from '#accounts/invitations/invitation.ts'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { defineErrors } from '#platform/api-error.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { afterCommit } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import {
  type Applying,
  type Change,
  claim,
  definedValues,
  fieldsOfNew,
  naming,
  planChangedError,
  requireDistinct,
} from './plan.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [
    400,
    `A document can invite ${limits.invitationsPerDocumentMax} new addresses at once. Apply the others later.`,
  ],
})

/** Mails that are sent at the same time. */
const atOnce = 8
/** Failed mails after which the others are not attempted: the mail server is away. */
const failuresMax = 8

/**
 * Invites the declared addresses that were never invited, and mails them after the transaction. Throws as the functions
 * of invitations, and `mail_not_set_up`.
 */
export async function applyInvitations(
  applying: Applying,
  declared: DeclaredInvitation[],
  browserLanguage: Language,
): Promise<Change[]> {
  const { kernel, tx, operator, source, adopt, now } = applying
  requirePermissions(operator, ['people.invite'])
  const addresses = declared.map(({ email }) => email.toLowerCase())
  requireDistinct(addresses)
  const found = await findInvitationsOf(tx, addresses)
  const managed = await store.findInvited(tx, addresses.map(keyOf))
  const created: StoredInvitation[] = []
  const changes: Change[] = []
  for (const invitation of declared) {
    const object = `invitations/${invitation.email}`
    const key = keyOf(invitation.email)
    const existing = found.get(invitation.email.toLowerCase())
    const invited = managed.find((each) => each.key === key)
    if (existing && adopt && invited?.source !== source) {
      await claim(applying, { kind: 'invitation', key, invitationId: existing.invitationId })
      changes.push({ object, action: 'adopt', fields: [] })
    } else if (existing || invited) changes.push({ object, action: 'none', fields: [] })
    else {
      const stored = await naming(object, async () => {
        kernel.mail.require()
        const draft = readInvitation({ kind: 'mail', ...invitation, operator, browserLanguage }, now)
        return storeInvitation(tx, draft, now)
      })
      const { invitationId } = stored.row
      if (!(await store.claimNew(tx, { source, kind: 'invitation', key, invitationId }))) throw planChangedError()
      created.push(stored)
      changes.push({ object, action: 'create', fields: fieldsOfNew(definedValues({ ...invitation })) })
    }
  }
  if (created.length > limits.invitationsPerDocumentMax) throw errors.invalid_request()
  if (created.length > 0) afterCommit(tx, () => mailAll(kernel, created))
  return changes
}

/** Returns the key under which an address is remembered. */
function keyOf(email: string): string {
  return sha256(email.toLowerCase()).toString('hex')
}

/** Mails invitations. One that is not mailed stays, and can be mailed again. */
async function mailAll(kernel: ServerContext, stored: StoredInvitation[]): Promise<void> {
  const waiting = [...stored]
  let failures = 0
  const mailNext = async () => {
    for (let next = waiting.shift(); next && failures < failuresMax; next = waiting.shift())
      if (!(await tryToMail(kernel, next))) failures += 1
  }
  await Promise.all(Array.from({ length: atOnce }, mailNext))
}

async function tryToMail(kernel: ServerContext, stored: StoredInvitation): Promise<boolean> {
  try {
    await countMail(kernel, stored.row.email ?? '')
    return await mailInvitation(kernel, stored)
  } catch (error) {
    kernel.log.warn({ error }, 'invitation not mailed')
    return false
  }
}

/** Deletes the pending invitations of the source that the document does not name. Those that were used stay. */
export async function pruneInvitations(applying: Applying, declared: DeclaredInvitation[]): Promise<Change[]> {
  const { tx, operator, source, now } = applying
  const named = new Set(declared.map(({ email }) => keyOf(email)))
  const gone = (await store.listObjects(tx, source, 'invitation')).filter(({ key }) => !named.has(key))
  const changes: Change[] = []
  for (const { email, invitationId, key } of await store.listPending(tx, gone, now)) {
    const object = `invitations/${email}`
    await naming(object, () => deleteInvitation(tx, { operator, invitationId }, now))
    await store.release(tx, { source, kind: 'invitation', key })
    changes.push({ object, action: 'delete', fields: [] })
  }
  return changes
}
