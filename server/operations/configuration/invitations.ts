import type { DeclaredInvitation } from '@countersign/protocol/operations/configuration'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import {
  deleteInvitation,
  findInvitationsOf,
  readInvitation,
  storeMailedInvitation,
} from '#accounts/invitations/invitation.ts'
import { type Operator, operatorKeyOf, requirePermissions } from '#accounts/operators/acting-operator.ts'
import { defineErrors } from '#platform/api-error.ts'
import { sha256 } from '#platform/crypto/secret.ts'
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

/**
 * Counts a document that invites an address for the first time, or instead of a void invitation, like an import. Runs
 * before its transaction, since a count may take a connection. Throws `rate_limited`.
 */
export async function countInviting(
  { db, rateLimits, clock }: Pick<ServerContext, 'db' | 'rateLimits' | 'clock'>,
  operator: Operator,
  declared: DeclaredInvitation[],
): Promise<void> {
  const addresses = declared.map(({ email }) => email.toLowerCase())
  const found = await findInvitationsOf(db, addresses, clock())
  const replacesVoid = addresses.some((address) => found.get(address)?.isVoid)
  const keys = addresses.filter((address) => !found.has(address)).map(keyOf)
  const managed = new Set((await store.findInvited(db, keys)).map(({ key }) => key))
  if (!replacesVoid && keys.every((key) => managed.has(key))) return
  await rateLimits.count('configuration-invitations-per-operator', operatorKeyOf(operator))
}

/**
 * Invites the declared addresses that were never invited, or whose invitation is void; the mails are sent in the
 * background. Throws as the functions of invitations, and `mail_not_set_up`.
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
  const found = await findInvitationsOf(tx, addresses, now)
  const managed = await store.findInvited(tx, addresses.map(keyOf))
  let created = 0
  const changes: Change[] = []
  for (const invitation of declared) {
    const object = `invitations/${invitation.email}`
    const key = keyOf(invitation.email)
    const existing = found.get(invitation.email.toLowerCase())
    const invited = managed.find((each) => each.key === key)
    if (existing && !existing.isVoid && adopt && invited?.source !== source) {
      await claim(applying, { kind: 'invitation', key, invitationId: existing.invitationId })
      changes.push({ object, action: 'adopt', fields: [] })
    } else if (existing ? !existing.isVoid : invited) changes.push({ object, action: 'none', fields: [] })
    else {
      const invitationId = await naming(object, async () => {
        kernel.mail.require()
        if (existing) await deleteInvitation(tx, { operator, invitationId: existing.invitationId }, now)
        const draft = readInvitation({ kind: 'mail', ...invitation, operator, browserLanguage }, now)
        return storeMailedInvitation(tx, draft, now)
      })
      const claimInvitation = invited ? store.claim : store.claimNew
      if (!(await claimInvitation(tx, { source, kind: 'invitation', key, invitationId }))) throw planChangedError()
      created += 1
      changes.push({ object, action: 'create', fields: fieldsOfNew(definedValues({ ...invitation })) })
    }
  }
  if (created > limits.invitationsPerDocumentMax) throw errors.invalid_request()
  return changes
}

/** Returns the key under which an address is remembered. */
function keyOf(email: string): string {
  return sha256(email.toLowerCase()).toString('hex')
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
