import { keepOrganization } from '#organizations/membership/member.ts'
import { createPublicKey, randomUUIDv7 } from 'node:crypto'
import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import {
  type OrganizationKeyWrapContext,
  ciphertextContext,
} from '@countersign/protocol/formats/encryption/ciphertext-context'
import { parseKeyWrapHeader } from '@countersign/protocol/formats/encryption/key-grant'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import type {
  NewKeyGrants,
  NewOrganizationKey,
  OrganizationKey,
  OrganizationKeyWrap,
} from '@countersign/protocol/organizations/keys'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { keyOf } from '#accounts/sessions/own-key.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { type Member } from '#organizations/membership/member.ts'
import { listAllMembers } from '#organizations/membership/member-list.ts'
import { type KeyDeps, generateOrganizationKey, withDecryptedKey } from './custody.ts'
import * as store from './store.ts'
import type { KeyRow, MemberKeyWrapRow } from './store.ts'
import * as kmsStore from './kms-store.ts'
import {
  recordSignedAction,
  requireRecentAuthenticationForAction,
  requireRecentAuthenticationForCall,
} from '#organizations/acts/signed-action.ts'
import { countChange } from '#organizations/acts/start-limit.ts'

/** Wraps a key to the encryption key of a member, as another member's browser does. */
async function wrapKey(key: Uint8Array, publicKey: Uint8Array, place: OrganizationKeyWrapContext): Promise<string> {
  const recipient = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
  return new CompactEncrypt(key)
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ctx: ciphertextContext.organizationKey(place) })
    .encrypt(recipient)
}

/** Checks if a text can be a wrap of this key for this member. Only the member can check its content. */
function isKeyWrapFor(text: string, publicKey: Uint8Array, place: OrganizationKeyWrapContext): boolean {
  const header = parseKeyWrapHeader(text)
  return header?.context === ciphertextContext.organizationKey(place) && header.curve === curveOfPublicKey(publicKey)
}

const errors = defineErrors({
  invalid_request: [400, 'fingerprint and ciphertext are required in encryption mode e2ee and not allowed otherwise.'],
  invalid_key_wrap: [400, "ciphertext is not a wrap of this key to the member's encryption key."],
  insufficient_scope: [403, 'Only owners can delete a key.'],
  key_not_shared_with_you: [403, 'Only members who have this key can share it.'],
  key_not_found: [404, 'Key not found.'],
  member_not_found: [404, 'Member not found.'],
  encryption_key_missing: [409, 'The identity has no encryption key.'],
  key_granted_already: [409, 'The member already has this key. Only the member can replace the wrap or give it up.'],
  key_changed: [409, 'replaces is not the active key. Read the keys and try again.'],
  key_active: [409, 'The active key cannot be deleted. Replace it first.'],
  key_used_before: [409, 'The organization has used this key before. Generate a new one.'],
  key_managed_by_service: [409, 'The service distributes this key; members cannot share it.'],
  too_many_keys: [409, `An organization can have at most ${limits.organizationKeysMax} keys.`],
})

/** Lists the keys of an organization, the active key first. Throws the errors of `requireMember`. */
export async function listKeys(kernel: ServerContext, asking: MemberContext, now: Date): Promise<OrganizationKey[]> {
  const member = await requireMember(kernel, asking, 'read', now)
  const rows = await store.listKeys(kernel.db, asking.organizationId)
  return describeKeys(kernel.db, member, rows)
}

/** Maps keys to their API view, with the number of members who can use them. */
async function describeKeys(db: Database, { memberId }: Member, rows: KeyRow[]): Promise<OrganizationKey[]> {
  const [first] = rows
  if (!first) return []
  const { organizationId } = first
  const members = await store.countMembers(db, organizationId)
  const grants = await store.countGrants(db, organizationId, memberId)
  const own = await store.findGrant(db, first, memberId)
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
 * Creates a key for an organization and replaces the active key, if any. The encryption mode of the organization
 * decides who generates and stores it. Throws the errors of `requireMember` and `recordSignedAction`,
 * `reauthentication_required`, `rate_limited`, `invalid_request`, `invalid_key_wrap`, `encryption_key_missing`,
 * `kms_unavailable`, `key_changed`, `key_used_before`, `too_many_keys`.
 */
export async function createKey(
  keeping: KeyDeps,
  asking: MemberContext,
  requested: NewOrganizationKey,
  now: Date,
): Promise<OrganizationKey> {
  const { db, config } = keeping.kernel
  const { organizationId } = asking
  const member = await requireMember(keeping.kernel, asking, 'manage_keys', now)
  const { organization } = member
  requireRecentAuthenticationForCall(asking, now)
  await countChange(keeping.kernel, { asking, acting: member }, 'organization-keys-per-organization')
  const made = await (organization.encryptionMode === 'e2ee'
    ? takeKey(requested, organizationId)
    : keepKey(keeping, requested, organization, now))
  return actingMemberTransaction(db, asking, async (tx, locked) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    // The encryption mode or the KMS can have changed during the request to the KMS.
    if (locked?.encryptionMode !== organization.encryptionMode) throw errors.key_changed()
    if (made.sealedBy !== undefined && made.sealedBy !== (await kmsStore.findKmsUrl(tx, organizationId)))
      throw errors.key_changed()
    const { version, former } = await endKeyInForce(tx, { organizationId, replaces: requested.replaces }, now)
    if (!(await store.insertKey(tx, { ...made, version }, now))) throw errors.key_used_before()
    if (made.ciphertext !== undefined)
      await keepGrants(
        tx,
        made,
        { grants: [{ memberId: acting.memberId, ciphertext: made.ciphertext }], by: acting },
        now,
      )
    const details = { keyId: made.keyId, version, keyCustody: made.custody, fingerprint: made.fingerprint }
    const from = { encryptionMode: organization.encryptionMode, fingerprint: former?.fingerprint ?? null }
    await recordSignedAction(tx, { asking, acting }, { action: 'organization.key.created', details, from }, now)
    const row = { ...made, version, createdAt: now, rotationDueAt: null, endedAt: null }
    const [key] = await describeKeys(tx, acting, [row])
    if (!key) throw new Error(`the key ${made.keyId} is missing from the list`)
    return key
  })
}

/** Returns the row of a key that a member has generated. The service stores only the member's own wrap of it. */
async function takeKey({ fingerprint, ciphertext }: NewOrganizationKey, organizationId: OrganizationId) {
  if (fingerprint === undefined || ciphertext === undefined) throw errors.invalid_request()
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

/** Generates a key that the service or the organization's KMS stores. */
async function keepKey(
  keeping: KeyDeps,
  { fingerprint, ciphertext }: NewOrganizationKey,
  organization: Member['organization'],
  now: Date,
) {
  if (fingerprint !== undefined || ciphertext !== undefined) throw errors.invalid_request()
  return { ...(await generateOrganizationKey(keeping, organization, now)), ciphertext: undefined }
}

/** Retires the key to be replaced, and returns it with the version of the next one. */
async function endKeyInForce(
  tx: Transaction,
  { organizationId, replaces }: { organizationId: OrganizationId; replaces: string | undefined },
  now: Date,
): Promise<{ version: number; former: KeyRow | undefined }> {
  const inForce = await store.findActiveKey(tx, organizationId)
  if (inForce?.keyId !== replaces) throw errors.key_changed({ fields: { keyId: inForce?.keyId ?? null } })
  if ((await store.countKeys(tx, organizationId)) >= limits.organizationKeysMax) throw errors.too_many_keys()
  if (inForce && !(await store.retireKey(tx, inForce, now))) throw errors.key_changed()
  return { version: (inForce?.version ?? 0) + 1, former: inForce }
}

type ConnectionContext = MemberContext & { keyId: string }

/**
 * Deletes a retired key. Data encrypted with it can only be decrypted by members who saved the key. Throws the errors
 * of `requireMember` and `recordSignedAction`, `insufficient_scope` unless the member is an owner,
 * `reauthentication_required`, `key_not_found`, `key_active`.
 */
export async function deleteKey({ db, config }: ServerContext, asking: ConnectionContext, now: Date): Promise<void> {
  const { keyId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    if (acting.role !== 'owner') throw errors.insufficient_scope()
    requireRecentAuthenticationForAction(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw errors.key_not_found()
    if (!(await store.deleteEndedKey(tx, key))) throw errors.key_active()
    const { version, fingerprint } = key
    const from = { version, fingerprint }
    const act = { action: 'organization.key.deleted', details: { keyId, ...from }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

/**
 * Gets a key, wrapped to the requesting member. For a shared key, a member with permission to manage keys also gets the
 * list of members who have it. Throws the errors of `requireMember`, and `key_not_found`, `rate_limited`,
 * `kms_unavailable`.
 */
export async function listMemberKeyWraps(
  keeping: KeyDeps,
  asking: ConnectionContext,
  now: Date,
): Promise<OrganizationKeyWrap[]> {
  const { kernel } = keeping
  const acting = await requireMember(kernel, asking, 'read', now)
  const key = await store.findKey(kernel.db, asking)
  if (!key) throw errors.key_not_found()
  if (key.custody !== 'identity_grants') return deliverKey(keeping, { asking, acting, key }, now)
  if (!acting.scopes.includes('manage_keys')) {
    const own = await store.findGrant(kernel.db, key, acting.memberId)
    return own ? [toKeyGrant(own, own.ciphertext)] : []
  }
  const read = (after: string | undefined, count: number) => store.listGrants(kernel.db, key, { after, count })
  return toKeyGrants(acting, await listAllMembers({ ...kernel, session: asking.session }, read, now))
}

/** Maps the wraps of a key to their API view. For members other than `acting` it only shows if they have one. */
function toKeyGrants({ memberId }: Member, rows: MemberKeyWrapRow[]): OrganizationKeyWrap[] {
  return rows.map((row) => toKeyGrant(row, row.memberId === memberId ? row.ciphertext : null))
}

function toKeyGrant(
  { publicKey, ciphertext, ...row }: MemberKeyWrapRow,
  ownCiphertext: string | null,
): OrganizationKeyWrap {
  const { memberId, identityId, handle, displayName } = row
  const granted = { granted: ciphertext !== null, ...(ownCiphertext !== null && { ciphertext: ownCiphertext }) }
  return { memberId, identityId, handle, displayName, publicKey: publicKey && toBase64(publicKey), ...granted }
}

type Delivery = { asking: ConnectionContext; acting: Member; key: KeyRow }

/**
 * Wraps a key that the service can open to the requesting member. Afterwards it checks that the membership and the key
 * still exist.
 */
async function deliverKey(
  keeping: KeyDeps,
  { asking, acting, key }: Delivery,
  now: Date,
): Promise<OrganizationKeyWrap[]> {
  const { db, config, rateLimits } = keeping.kernel
  const { session, organizationId, keyId } = asking
  const { memberId, identityId } = acting
  const { fingerprint, sealedKey } = key
  const own = await store.findGrant(db, key, memberId)
  if (!own || sealedKey === null) throw errors.key_not_found()
  const { publicKey } = own
  if (!publicKey) return [toKeyGrant(own, null)]
  await rateLimits.count('organization-key-reads-per-member', keyOf(session, memberId, now))
  const place = { organizationId, fingerprint, identityId }
  const wrap = (opened: Buffer) => wrapKey(opened, publicKey, place)
  const ciphertext = await withDecryptedKey(keeping, { ...key, sealedKey }, wrap, now)
  return actingTransaction(db, asking.session, async (tx) => {
    await keepOrganization(tx, organizationId)
    await requireMember({ db: tx, config }, { ...asking, identityId }, 'read', now)
    if (!(await store.findKey(tx, asking))) throw errors.key_not_found()
    const act = { action: 'organization.key.retrieved', actor: 'user', userId: session.userId } as const
    await recordAuditEvent(tx, { ...act, identityId, organizationId, details: { keyId, version: key.version } }, now)
    return [toKeyGrant({ ...own, ciphertext }, ciphertext)]
  })
}

/**
 * Shares a key with members, using wraps that a member with the key has made. Members who have the key already are
 * rejected, except the sharing member: only the recipient can tell if a wrap is valid, so a wrap must not be
 * overwritten. Throws the errors of `requireMember` and `recordSignedAction`, `reauthentication_required`,
 * `key_not_found`, `key_managed_by_service`, `key_not_shared_with_you`, `member_not_found`, `encryption_key_missing`,
 * `invalid_key_wrap`, `key_granted_already`.
 */
export async function shareKey(
  { db, config }: ServerContext,
  asking: ConnectionContext,
  grants: NewKeyGrants,
  now: Date,
): Promise<OrganizationKeyWrap[]> {
  const { keyId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_keys', now)
    requireRecentAuthenticationForAction(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw errors.key_not_found()
    if (key.custody !== 'identity_grants') throw errors.key_managed_by_service()
    const own = await store.findGrant(tx, key, acting.memberId)
    if (!own?.ciphertext) throw errors.key_not_shared_with_you()
    await keepGrants(tx, key, { grants, by: acting }, now)
    // The audit log names the recipients. The wraps are for the recipients only.
    const memberIds = grants.map(({ memberId }) => memberId)
    const replacedOwn = memberIds.includes(acting.memberId)
    const details = { keyId, version: key.version, memberIds, ...(replacedOwn && { replacedOwn }) }
    const from = { version: key.version, fingerprint: key.fingerprint }
    const act = { action: 'organization.key.shared', details, from, isConfidential: true } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return toKeyGrants(acting, await store.listGrants(tx, key))
  })
}

type GrantedKey = Pick<KeyRow, 'organizationId' | 'keyId' | 'fingerprint'>
type Granting = { grants: NewKeyGrants; by: Pick<Member, 'memberId'> }

/**
 * Stores wraps for members. Each member must appear once and must have the encryption key that the wrap was made for.
 */
async function keepGrants(tx: Transaction, key: GrantedKey, { grants, by }: Granting, now: Date): Promise<void> {
  const { organizationId, fingerprint } = key
  const members = await store.listGrantsOf(
    tx,
    key,
    grants.map(({ memberId }) => memberId),
  )
  for (const { memberId, ciphertext } of grants) {
    const member = members.find((each) => each.memberId === memberId)
    if (!member) throw errors.member_not_found()
    const { identityId, publicKey } = member
    if (!publicKey) throw errors.encryption_key_missing({ fields: { memberId } })
    if (!isKeyWrapFor(ciphertext, publicKey, { organizationId, fingerprint, identityId }))
      throw errors.invalid_key_wrap({ fields: { memberId } })
  }
  if (new Set(grants.map(({ memberId }) => memberId)).size < grants.length)
    throw errors.invalid_request({ sentence: 'Each member can appear only once.' })
  const kept = await store.insertGrants(tx, { ...key, grants, by: by.memberId }, now)
  const had = grants.find(({ memberId }) => !kept.includes(memberId))
  if (had) throw errors.key_granted_already({ fields: { memberId: had.memberId } })
}
