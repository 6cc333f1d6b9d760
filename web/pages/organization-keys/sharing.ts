import type { MasterKey } from '@countersign/keys/master-key'
import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { OrganizationKey as Opened } from '@countersign/keys/organization-key'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { OrganizationKeyWrap, OrganizationKey } from '@countersign/protocol/organizations/keys'
import { ActStoppedError, actInline } from '../../lib/acts/inline.ts'
import { callBusiness } from '../../lib/api/business-call.ts'
import { call, type Parts } from '../../lib/api/call.ts'
import type { KeyTaskQuery } from './task.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')
const grants = '/api/organizations/:organizationId/keys/:keyId/wraps' as const

type KeyRecord = Pick<OrganizationKey, 'keyId' | 'fingerprint'>

/** A member in the way that the page shows them. */
export type Named = Pick<OrganizationKeyWrap, 'memberId' | 'identityId' | 'handle' | 'displayName'>

/** A member who will receive a key, and whose encryption key is known. */
type Recipient = Named & { publicKey: string }

/** A key, the members who lack it, and the members who lack it and have no encryption key to receive it. */
export type MissingKeyWraps = { record: KeyRecord; recipients: Recipient[]; unprepared: Named[] }

/** Loads which members lack a key. */
export async function loadMissingKeyWraps(query: KeyTaskQuery, record: KeyRecord): Promise<MissingKeyWraps> {
  const { wraps } = await callBusiness(`GET ${grants}`, aboutKey(query, record))
  const missing = wraps.filter(({ granted }) => !granted)
  const recipients = missing.flatMap(({ publicKey, ...member }) =>
    publicKey === null ? [] : [{ ...member, publicKey }],
  )
  return { record, recipients, unprepared: missing.filter(({ publicKey }) => publicKey === null) }
}

/** Lists the members of the organization other than the acting one. */
export async function listOtherMembers(query: KeyTaskQuery): Promise<Named[]> {
  const { members } = await callBusiness('GET /api/organizations/:organizationId/members', keyMessage(query))
  return members.filter(({ identityId }) => identityId !== query.identityId)
}

/** Returns the recipients that were shown, with the same names. */
export function selectShown(recipients: Recipient[], shown: readonly Named[]): Recipient[] {
  const byId = new Map(shown.map((member) => [member.memberId, member]))
  return recipients.filter((recipient) => {
    const member = byId.get(recipient.memberId)
    return (['identityId', 'handle', 'displayName'] as const).every((name) => member?.[name] === recipient[name])
  })
}

/** Returns whether a member has the encryption key that organization keys are wrapped to. */
export async function hasEncryptionKey({ identityId }: KeyTaskQuery): Promise<boolean> {
  return (await call('GET /api/encryption/keys/:identityId', { params: { identityId } })).hasKey
}

/** The acting member with their unlocked encryption key, and how they act: signed, if they have a signing key. */
export type UnlockedMemberKeys = { query: KeyTaskQuery; own: OwnEncryptionKey; act: ActOnKeys }

type OwnEncryptionKey = { publicKey: string; privateKey: CryptoKey }
type ActOnKeys = <Name extends keyof Api>(
  what: { name: Name; action: string },
  given: RequestOf<Name> & Parts,
) => Promise<ResponseOf<Name>>

export async function unlockMemberKeys(query: KeyTaskQuery, masterKey: MasterKey): Promise<UnlockedMemberKeys> {
  const own = await readOwnKey(query, masterKey)
  const { hasKey } = await call('GET /api/signing/keys/:identityId', { params: { identityId: query.identityId } })
  const act: ActOnKeys = (what, given) => (hasKey ? actInline(masterKey, what, given) : callBusiness(what.name, given))
  return { query, own, act }
}

/**
 * Returns the encryption key of the identity. Creates it if there is none. Throws `ActStoppedError` if the service
 * names another public key: it could read what is encrypted to that.
 */
async function readOwnKey({ identityId }: KeyTaskQuery, masterKey: MasterKey): Promise<OwnEncryptionKey> {
  const params = { identityId }
  const found = await call('GET /api/encryption/keys/:identityId', { params })
  const { publicKey, encryptedPrivateKey } =
    found.publicKey !== undefined && found.encryptedPrivateKey !== undefined
      ? { publicKey: found.publicKey, encryptedPrivateKey: found.encryptedPrivateKey }
      : await call('POST /api/encryption/keys/:identityId', {
          params,
          body: await masterKey.newEncryptionKey(identityId),
        })
  const privateKey = await masterKey.openEncryptionKey(identityId, encryptedPrivateKey)
  const isOwn = await masterKey.ownsEncryptionKey(identityId, { publicKey, encryptedPrivateKey })
  if (!isOwn) throw new ActStoppedError('statement')
  return { publicKey, privateKey }
}

/** A decrypted organization key, and its record. */
type KeyState = { record: KeyRecord; key: Opened }

/** Creates a key, which may replace another one. At first it is wrapped to the member who creates it only. */
export async function makeKey(
  { query, own, act }: UnlockedMemberKeys,
  replaces: string | undefined,
): Promise<KeyState> {
  const { organizationId, identityId } = query
  const { generateOrganizationKey } = await loadVault()
  const key = generateOrganizationKey()
  const body = {
    ...(replaces !== undefined && { replaces }),
    fingerprint: await key.fingerprint(),
    ciphertext: await key.grantTo({ identityId, publicKey: own.publicKey }, organizationId),
  }
  const creation = { name: 'POST /api/organizations/:organizationId/keys', action: 'organization.key.created' } as const
  const made = await act(creation, { ...keyMessage(query), body })
  return { record: made.key, key }
}

/** Decrypts the key wrap of the member. Throws `DecryptionError`. */
export async function openKey(
  { query, own: { privateKey } }: UnlockedMemberKeys,
  record: KeyRecord,
): Promise<KeyState> {
  const { organizationId, identityId } = query
  const { wraps } = await callBusiness(`GET ${grants}`, aboutKey(query, record))
  const ciphertext = wraps.find((wrap) => wrap.identityId === identityId)?.ciphertext ?? ''
  const { unwrapOrganizationKey } = await loadVault()
  const place = { organizationId, identityId, fingerprint: record.fingerprint }
  return { record, key: await unwrapOrganizationKey(ciphertext, privateKey, place) }
}

/** Wraps a key to members, and discards it. */
export async function shareOrganizationKey(
  { query, act }: UnlockedMemberKeys,
  { record, key }: KeyState,
  recipients: Recipient[],
): Promise<void> {
  const { organizationId } = query
  const wraps = await Promise.all(
    recipients.map(async (recipient) => ({
      memberId: recipient.memberId,
      ciphertext: await key.grantTo(recipient, organizationId),
    })),
  )
  key.forget()
  while (wraps.length > 0) {
    const body = { wraps: wraps.splice(0, pageLimits.keyGrantsAtOnceMax) }
    await act({ name: `PUT ${grants}`, action: 'organization.key.shared' }, { ...aboutKey(query, record), body })
  }
}

/** Returns the parts of a call that name the organization, and the identity that the member acts as. */
export function keyMessage({ organizationId, identityId }: KeyTaskQuery) {
  return { params: { organizationId }, querystring: { identity_id: identityId } }
}

/** Returns the parts of a call that name a key of the organization. */
function aboutKey(query: KeyTaskQuery, { keyId }: KeyRecord) {
  const { params, querystring } = keyMessage(query)
  return { params: { ...params, keyId }, querystring }
}
