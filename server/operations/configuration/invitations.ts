import type { DeclaredInvitation } from '@countersign/protocol/operations/configuration'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import { findGroupsByKey, requireRightsOverMembers } from '#accounts/groups/group.ts'
import { deleteVoid } from '#accounts/invitations/import.ts'
import {
  deleteInvitation,
  findInvitationsOf,
  readInvitation,
  storeMailedInvitation,
} from '#accounts/invitations/invitation.ts'
import { type Operator, operatorKeyOf, requirePermissions } from '#accounts/operators/acting-operator.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
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

type Inviter = { operator: Operator; browserLanguage: Language }

/** A document that invites, and the groups that it declares. */
type InvitingDocument = { invitations: DeclaredInvitation[]; groups?: readonly { key: string }[] | undefined }

/**
 * Counts a document that invites an address for the first time, or instead of a void invitation, like an import. Runs
 * before its transaction, since a count may take a connection. Throws `rate_limited`.
 */
export async function countInviting(
  { db, mail, rateLimits, clock }: Pick<ServerContext, 'db' | 'mail' | 'rateLimits' | 'clock'>,
  { operator, browserLanguage }: Inviter,
  { invitations: declared, groups = [] }: InvitingDocument,
): Promise<void> {
  const now = clock()
  const found = await findInvitationsOf(db, declared.map(addressOf), now)
  const replaceable = declared.filter((each) => found.get(addressOf(each))?.isVoid)
  const groupsOfDocument = groups.map(({ key }) => key)
  const inviting = { operator, browserLanguage, declared: replaceable, groupsOfDocument }
  const replaced = await findReplaceable({ db, mail }, inviting, now)
  const keys = declared.filter((each) => !found.has(addressOf(each))).map(keyOf)
  const managed = new Set((await store.findInvited(db, keys)).map(({ key }) => key))
  if (replaced.size === 0 && keys.every((key) => managed.has(key))) return
  await rateLimits.count('configuration-invitations-per-operator', operatorKeyOf(operator))
}

type Replacing = Inviter & { declared: DeclaredInvitation[]; groupsOfDocument?: readonly string[] }

/**
 * Returns those of the addresses, in lower case, that the operator can invite now. An invitation that cannot be
 * replaced must not stop the other changes of a document.
 */
async function findReplaceable(
  { db, mail }: Pick<ServerContext, 'db' | 'mail'>,
  { declared, groupsOfDocument = [], operator, browserLanguage }: Replacing,
  now: Date,
): Promise<Set<string>> {
  if (!mail.isSetUp) return new Set()
  const keys = new Set(declared.flatMap(({ groups = [] }) => groups))
  const byKey = new Map((await findGroupsByKey(db, [...keys])).map((group) => [group.key, group]))
  const isReplaceable = (invitation: DeclaredInvitation) => {
    const { groups = [] } = invitation
    if (!groups.every((key) => byKey.has(key) || groupsOfDocument.includes(key))) return false
    return !isRefused(() => {
      readInvitation({ kind: 'mail', ...invitation, operator, browserLanguage }, now)
      for (const group of groups.flatMap((key) => byKey.get(key) ?? [])) requireRightsOverMembers(operator, group, now)
    })
  }
  return new Set(declared.filter(isReplaceable).map(addressOf))
}

function isRefused(check: () => void): boolean {
  try {
    check()
    return false
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return true
  }
}

/**
 * Invites the declared addresses that were never invited. Replaces those void invitations that the operator can
 * replace, as many as the document can still invite. The mails are sent in the background. For addresses that were
 * never invited, throws as the functions of invitations, and `mail_not_set_up`.
 */
export async function applyInvitations(
  applying: Applying,
  declared: DeclaredInvitation[],
  browserLanguage: Language,
): Promise<Change[]> {
  const { kernel, tx, operator, source, adopt, now } = applying
  requirePermissions(operator, ['people.invite'])
  const addresses = declared.map(addressOf)
  requireDistinct(addresses)
  const found = await findInvitationsOf(tx, addresses, now)
  const managed = new Map((await store.findInvited(tx, declared.map(keyOf))).map((each) => [each.key, each]))
  const isNew = (each: DeclaredInvitation) => !found.has(addressOf(each)) && !managed.has(keyOf(each))
  const left = limits.invitationsPerDocumentMax - declared.filter(isNew).length
  if (left < 0) throw errors.invalid_request()
  const replaceable = declared.filter((each) => found.get(addressOf(each))?.isVoid)
  const inviting = { operator, browserLanguage, declared: replaceable }
  const replaced = new Set([...(await findReplaceable({ db: tx, mail: kernel.mail }, inviting, now))].slice(0, left))
  const changes: Change[] = []
  for (const invitation of declared) {
    const object = `invitations/${invitation.email}`
    const [address, key] = [addressOf(invitation), keyOf(invitation)]
    const existing = found.get(address)
    if (isNew(invitation) || replaced.has(address)) {
      await naming(object, () => invite(applying, { invitation, browserLanguage, voidIds: existing?.voidIds ?? [] }))
      changes.push({ object, action: 'create', fields: fieldsOfNew(definedValues({ ...invitation })) })
    } else if (existing && adopt && managed.get(key)?.source !== source) {
      await claim(applying, { kind: 'invitation', key, invitationId: existing.invitationId })
      changes.push({ object, action: 'adopt', fields: [] })
    } else changes.push({ object, action: 'none', fields: [] })
  }
  return changes
}

type Invited = { invitation: DeclaredInvitation; browserLanguage: Language; voidIds: string[] }

/** Invites an address instead of its void invitations. Throws `plan_changed` if something changed one meanwhile. */
async function invite(
  { kernel, tx, operator, source, now }: Applying,
  { invitation, browserLanguage, voidIds }: Invited,
): Promise<void> {
  kernel.mail.require()
  if (!(await deleteVoid(tx, operator, voidIds, now))) throw planChangedError()
  const draft = readInvitation({ kind: 'mail', ...invitation, operator, browserLanguage }, now)
  const invitationId = await storeMailedInvitation(tx, draft, now)
  const claimInvitation = voidIds.length > 0 ? store.claim : store.claimNew
  if (!(await claimInvitation(tx, { source, kind: 'invitation', key: keyOf(invitation), invitationId })))
    throw planChangedError()
}

function addressOf({ email }: Pick<DeclaredInvitation, 'email'>): string {
  return email.toLowerCase()
}

/** Returns the key under which an address is remembered. */
function keyOf(invitation: Pick<DeclaredInvitation, 'email'>): string {
  return sha256(addressOf(invitation)).toString('hex')
}

/** Deletes the pending invitations of the source that the document does not name. Those that were used stay. */
export async function pruneInvitations(applying: Applying, declared: DeclaredInvitation[]): Promise<Change[]> {
  const { tx, operator, source, now } = applying
  const named = new Set(declared.map(keyOf))
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
