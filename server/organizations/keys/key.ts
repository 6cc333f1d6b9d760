import { randomUUIDv7 } from 'node:crypto'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import type {
  KeyGrant,
  NewKeyGrants,
  NewOrganizationKey,
  OrganizationKey,
} from '@countersign/protocol/organizations/keys'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { keyOf } from '#accounts/sessions/own-key.ts'
import { requireFresh } from '#accounts/sessions/session.ts'
import { actingMemberTransaction, requireMember, type Asking, type Member } from '#organizations/membership/access.ts'
import { lendKey, makeKey, type Keeping } from './custody.ts'
import { isGrantFor, wrapKey } from './key-grant.ts'
import * as store from './store.ts'
import type { GrantRow, KeyRow } from './store.ts'
import * as kmsStore from './kms-store.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import * as membersStore from '#organizations/members/store.ts'

const refuse = refusals({
  invalid_request: [
    400,
    'In mode e2ee, and there alone, a key is made by a member: send its fingerprint and ciphertext.',
  ],
  invalid_key_wrap: [400, 'This is not this key, wrapped to the encryption key of that member.'],
  insufficient_scope: [403, 'Only an owner deletes a key.'],
  key_not_held: [403, 'Only who was granted this key can grant it'],
  key_not_found: [404, 'This organization has no key with this id.'],
  member_not_found: [404, 'This organization has no such member.'],
  encryption_key_missing: [409, 'This identity has no encryption key to which a key could be wrapped.'],
  key_granted_already: [409, 'This member has this key. They alone replace their wrap of it, or give it up.'],
  key_changed: [409, 'Another key is in force than the one that this replaces.'],
  key_in_force: [409, 'This key is in force. Replace it first.'],
  key_used_before: [409, 'This organization has had this key before. Make a new one.'],
  not_granted_by_members: [409, 'Members do not grant this key: the service wraps it to each who asks.'],
  too_many_keys: [409, `An organization has at most ${limits.organizationKeysMax} keys.`],
})

/** The keys of an organization, the one in force before the others. Refuses as `requireMember`. */
export async function listKeys(kernel: Kernel, asking: Asking, now: Date): Promise<OrganizationKey[]> {
  const member = await requireMember(kernel, asking, 'read', now)
  const rows = await store.listKeys(kernel.db, asking.organizationId)
  return describeKeys(kernel.db, member, rows)
}

/** Tells of keys who can get them. */
async function describeKeys(db: Database, { memberId }: Member, rows: KeyRow[]): Promise<OrganizationKey[]> {
  const [first] = rows
  if (!first) return []
  const { organizationId } = first
  const members = await store.countMembers(db, organizationId)
  const grants = await store.countGrants(db, organizationId, memberId)
  const [own] = await store.listGrants(db, first, memberId)
  return rows.map((row) => {
    const granted = grants.find(({ keyId }) => keyId === row.keyId)
    const having = row.custody === 'identity_grants' ? Number(granted?.members ?? 0) : members.reachable
    const held = row.custody === 'identity_grants' ? granted?.isHeld === true : Boolean(own?.publicKey)
    return { ...toOrganizationKey(row), held, membersWithout: members.all - having }
  })
}

function toOrganizationKey({ keyId, version, custody, fingerprint, ...row }: KeyRow) {
  return {
    keyId,
    version,
    keyCustody: custody,
    fingerprint,
    createdAt: row.createdAt.toISOString(),
    rotationDueSince: row.endedAt ? null : (row.rotationDueAt?.toISOString() ?? null),
    endedAt: row.endedAt?.toISOString() ?? null,
  }
}

/**
 * Gives an organization a key, in place of the one in force if there is one. Who makes and keeps it says the mode of
 * the organization. Refuses what `requireMember` and `recordAct` do, `reauthentication_required`, `rate_limited`,
 * `invalid_request`, `invalid_key_wrap`, `encryption_key_missing`, `kms_unavailable`, `key_changed`, `key_used_before`,
 * `too_many_keys`.
 */
export async function createKey(
  keeping: Keeping,
  asking: Asking,
  wanted: NewOrganizationKey,
  now: Date,
): Promise<OrganizationKey> {
  const { db, config, rateLimits } = keeping.kernel
  const { session, organizationId } = asking
  const { organization } = await requireMember(keeping.kernel, asking, 'manage_keys', now)
  requireFresh(session, now)
  await rateLimits.count('organization key of an organization', organizationId)
  const made = await (organization.encryptionMode === 'e2ee'
    ? takeKey(wanted, organizationId)
    : keepKey(keeping, wanted, organization, now))
  return actingMemberTransaction(db, asking, async (tx, locked) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    // A KMS may have been asked meanwhile, and the mode may be another one by now, or the KMS.
    if (locked?.encryptionMode !== organization.encryptionMode) throw refuse.key_changed()
    if (made.sealedBy !== undefined && made.sealedBy !== (await kmsStore.findKmsUrl(tx, organizationId)))
      throw refuse.key_changed()
    const version = await endKeyInForce(tx, { organizationId, replaces: wanted.replaces }, now)
    if (!(await store.insertKey(tx, { ...made, version }, now))) throw refuse.key_used_before()
    if (made.ciphertext !== undefined)
      await keepGrants(
        tx,
        made,
        { grants: [{ memberId: acting.memberId, ciphertext: made.ciphertext }], by: acting },
        now,
      )
    const details = { keyId: made.keyId, version, keyCustody: made.custody, fingerprint: made.fingerprint }
    await recordAct(tx, { asking, acting }, { action: 'organization.key.created', details }, now)
    const row = { ...made, version, createdAt: now, rotationDueAt: null, endedAt: null }
    const [key] = await describeKeys(tx, acting, [row])
    if (!key) throw new Error(`the key ${made.keyId} is not told of`)
    return key
  })
}

/** A key that a member has made, of which nothing but their own grant is known here. */
async function takeKey({ fingerprint, ciphertext }: NewOrganizationKey, organizationId: string) {
  if (fingerprint === undefined || ciphertext === undefined) throw refuse.invalid_request()
  const place = { organizationId, keyId: randomUUIDv7() }
  return {
    ...place,
    custody: 'identity_grants' as const,
    sealedKey: null,
    sealedBy: undefined,
    fingerprint,
    ciphertext,
  }
}

/** A key that the service makes, which it keeps itself or has the organization's KMS keep. */
async function keepKey(
  keeping: Keeping,
  { fingerprint, ciphertext }: NewOrganizationKey,
  organization: Member['organization'],
  now: Date,
) {
  if (fingerprint !== undefined || ciphertext !== undefined) throw refuse.invalid_request()
  return { ...(await makeKey(keeping, organization, now)), ciphertext: undefined }
}

/** Ends the key that is to be replaced, and says which version comes next. */
async function endKeyInForce(
  tx: Transaction,
  { organizationId, replaces }: { organizationId: string; replaces: string | undefined },
  now: Date,
): Promise<number> {
  const inForce = await store.findKeyInForce(tx, organizationId)
  if (inForce?.keyId !== replaces) throw refuse.key_changed({ fields: { keyId: inForce?.keyId ?? null } })
  if ((await store.countKeys(tx, organizationId)) >= limits.organizationKeysMax) throw refuse.too_many_keys()
  if (inForce && !(await store.endKey(tx, inForce, now))) throw refuse.key_changed()
  return (inForce?.version ?? 0) + 1
}

type AskingForOne = Asking & { keyId: string }

/**
 * Deletes a key that is no longer in force: who has not kept it opens nothing with it any more. Refuses what
 * `requireMember` and `recordAct` do, `insufficient_scope` to all but owners, `reauthentication_required`,
 * `key_not_found`, `key_in_force`.
 */
export async function deleteKey({ db, config }: Kernel, asking: AskingForOne, now: Date): Promise<void> {
  const { keyId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw refuse.insufficient_scope()
    requireFreshToAct(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw refuse.key_not_found()
    if (!(await store.deleteEndedKey(tx, key))) throw refuse.key_in_force()
    const { version, fingerprint } = key
    const act = { action: 'organization.key.deleted', details: { keyId, version, fingerprint } } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}

/**
 * A key as it is wrapped to whoever asks; for who looks after the keys that members grant each other, also who else was
 * granted it. Refuses as `requireMember`, and `key_not_found`, `rate_limited`, `kms_unavailable`.
 */
export async function readGrants(keeping: Keeping, asking: AskingForOne, now: Date): Promise<KeyGrant[]> {
  const { kernel } = keeping
  const acting = await requireMember(kernel, asking, 'read', now)
  const key = await store.findKey(kernel.db, asking)
  if (!key) throw refuse.key_not_found()
  if (key.custody !== 'identity_grants') return deliverKey(keeping, { asking, acting, key }, now)
  return listGrants(kernel.db, acting, key)
}

/** The grants of a key; of others than `acting` only whether they have one, and only where that is theirs to know. */
async function listGrants(db: Database, { memberId, scopes }: Member, key: KeyRow): Promise<KeyGrant[]> {
  const rows = await store.listGrants(db, key, scopes.includes('manage_keys') ? undefined : memberId)
  return rows.map((row) => toKeyGrant(row, row.memberId === memberId ? row.ciphertext : null))
}

function toKeyGrant({ publicKey, ciphertext, ...row }: GrantRow, told: string | null): KeyGrant {
  const { memberId, identityId, handle, displayName } = row
  const granted = { granted: ciphertext !== null, ...(told !== null && { ciphertext: told }) }
  return { memberId, identityId, handle, displayName, publicKey: publicKey && toBase64(publicKey), ...granted }
}

type Delivery = { asking: AskingForOne; acting: Member; key: KeyRow }

/** Wraps a key that the service can open to whoever asks, if they are a member and it is there still by then. */
async function deliverKey(keeping: Keeping, { asking, acting, key }: Delivery, now: Date): Promise<KeyGrant[]> {
  const { db, config, rateLimits } = keeping.kernel
  const { session, organizationId, keyId } = asking
  const { memberId, identityId } = acting
  const { fingerprint, sealedKey } = key
  const [own] = await store.listGrants(db, key, memberId)
  if (!own || sealedKey === null) throw refuse.key_not_found()
  const { publicKey } = own
  if (!publicKey) return [toKeyGrant(own, null)]
  await rateLimits.count('organization key for a member', keyOf(session, memberId, now))
  const place = { organizationId, fingerprint, identityId }
  const wrap = (opened: Buffer) => wrapKey(opened, publicKey, place)
  const ciphertext = await lendKey(keeping, { ...key, sealedKey }, wrap, now)
  return actingTransaction(db, asking.session, async (tx) => {
    await membersStore.shareOrganization(tx, organizationId)
    await requireMember({ db: tx, config }, { ...asking, identityId }, 'read', now)
    if (!(await store.findKey(tx, asking))) throw refuse.key_not_found()
    const act = { action: 'organization.key.delivered', actor: 'person', userId: session.userId } as const
    await record(tx, { ...act, identityId, organizationId, details: { keyId, version: key.version } }, now)
    return [toKeyGrant({ ...own, ciphertext }, ciphertext)]
  })
}

/**
 * Grants a key to members, to whom a member who has it has wrapped it: to those who lack it, as nobody else can tell a
 * wrap from nothing, and to themselves also again. Refuses what `requireMember` and `recordAct` do,
 * `reauthentication_required`, `key_not_found`, `not_granted_by_members`, `key_not_held`, `member_not_found`,
 * `encryption_key_missing`, `invalid_key_wrap`, `key_granted_already`.
 */
export async function grantKey(
  { db, config }: Kernel,
  asking: AskingForOne,
  grants: NewKeyGrants,
  now: Date,
): Promise<KeyGrant[]> {
  const { keyId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    requireFreshToAct(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw refuse.key_not_found()
    if (key.custody !== 'identity_grants') throw refuse.not_granted_by_members()
    const [own] = await store.listGrants(tx, key, acting.memberId)
    if (!own?.ciphertext) throw refuse.key_not_held()
    await keepGrants(tx, key, { grants, by: acting }, now)
    // Whom it is granted to stands in the trail; what they were sent is for them.
    const memberIds = grants.map(({ memberId }) => memberId)
    const replacedOwn = memberIds.includes(acting.memberId)
    const details = { keyId, version: key.version, memberIds, ...(replacedOwn && { replacedOwn }) }
    const act = { action: 'organization.key.granted', details, isConfidential: true } as const
    await recordAct(tx, { asking, acting }, act, now)
    return listGrants(tx, acting, key)
  })
}

type GrantedKey = Pick<KeyRow, 'organizationId' | 'keyId' | 'fingerprint'>
type Granting = { grants: NewKeyGrants; by: Pick<Member, 'memberId'> }

/** Keeps grants to members, each once, who have an encryption key to which they are. */
async function keepGrants(tx: Transaction, key: GrantedKey, { grants, by }: Granting, now: Date): Promise<void> {
  const { organizationId, fingerprint } = key
  const members = await store.listGrants(tx, key)
  for (const { memberId, ciphertext } of grants) {
    const member = members.find((each) => each.memberId === memberId)
    if (!member) throw refuse.member_not_found()
    const { identityId, publicKey } = member
    if (!publicKey) throw refuse.encryption_key_missing({ fields: { memberId } })
    if (!isGrantFor(ciphertext, publicKey, { organizationId, fingerprint, identityId }))
      throw refuse.invalid_key_wrap({ fields: { memberId } })
  }
  if (new Set(grants.map(({ memberId }) => memberId)).size < grants.length)
    throw refuse.invalid_request({ sentence: 'Each member is granted a key once.' })
  const kept = await store.insertGrants(tx, { ...key, grants, by: by.memberId }, now)
  const had = grants.find(({ memberId }) => !kept.includes(memberId))
  if (had) throw refuse.key_granted_already({ fields: { memberId: had.memberId } })
}
