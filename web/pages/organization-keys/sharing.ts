import type { MasterKey } from '@countersign/keys/master-key'
import type { OrganizationKey as Opened } from '@countersign/keys/organization-key'
import { limits } from '@countersign/protocol/formats/limits'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import type { KeyGrant, OrganizationKey } from '@countersign/protocol/organizations/keys'
import { callBusiness } from '../../lib/business-call.ts'
import { call } from '../../lib/call.ts'
import type { Asked } from './task.ts'

const loadVault = () => import('../../lib/vault.ts')
const grants = '/api/organizations/:organizationId/keys/:keyId/wraps' as const

type KeyRecord = Pick<OrganizationKey, 'keyId' | 'fingerprint'>

type Named = Pick<KeyGrant, 'memberId' | 'identityId' | 'handle' | 'displayName'>

/** A member who is to be given a key, and whose encryption key is known. */
type Recipient = Named & { publicKey: string }

/** A key, who lacks it, and who lacks it and could not open it, for they have no encryption key. */
export type Lacking = { record: KeyRecord; recipients: Recipient[]; unprepared: Named[] }

/** Who lacks a key. */
export async function readLacking(asked: Asked, record: KeyRecord): Promise<Lacking> {
  const { wraps } = await callBusiness(`GET ${grants}`, aboutKey(asked, record))
  const lacking = wraps.filter(({ granted }) => !granted)
  const recipients = lacking.flatMap(({ publicKey, ...member }) =>
    publicKey === null ? [] : [{ ...member, publicKey }],
  )
  return { record, recipients, unprepared: lacking.filter(({ publicKey }) => publicKey === null) }
}

/** Whether a member has the encryption key to which theirs are wrapped. */
export async function isPrepared({ identityId }: Asked): Promise<boolean> {
  return (await call('GET /api/encryption/keys/:identityId', { params: { identityId } })).hasKey
}

/** Who does it: as which member, with their own keys open. */
export type Hands = { asked: Asked; own: OwnKey; sign: Sign }

type OwnKey = { publicKey: string; privateKey: CryptoKey }
type Sign = (action: string, details: Record<string, unknown>) => Promise<{ signedAction?: { signature: string } }>

export async function openHands(asked: Asked, masterKey: MasterKey): Promise<Hands> {
  return { asked, own: await readOwnKey(asked, masterKey), sign: await signerOf(asked, masterKey) }
}

/** The encryption key of the identity, which gets one here where it has none. */
async function readOwnKey({ identityId }: Asked, masterKey: MasterKey): Promise<OwnKey> {
  const params = { identityId }
  const found = await call('GET /api/encryption/keys/:identityId', { params })
  const { publicKey, encryptedPrivateKey } =
    found.publicKey !== undefined && found.encryptedPrivateKey !== undefined
      ? { publicKey: found.publicKey, encryptedPrivateKey: found.encryptedPrivateKey }
      : await call('POST /api/encryption/keys/:identityId', {
          params,
          body: await masterKey.newEncryptionKey(identityId),
        })
  return { publicKey, privateKey: await masterKey.openEncryptionKey(identityId, encryptedPrivateKey) }
}

/** Signs acts by the signing key of the identity, where it has one. */
async function signerOf({ identityId }: Asked, masterKey: MasterKey): Promise<Sign> {
  const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
  const { signText } = await loadVault()
  return async (action, details) => {
    if (!key.hasKey) return {}
    return { signedAction: { signature: await signText(masterKey, key, signedActionMessage(action, details)) } }
  }
}

/** A key of the organization that is open here, and the record of it. */
type Held = { record: KeyRecord; key: Opened }

/** Makes a key in place of another or of none. Its only wrap at first is that to who makes it. */
export async function makeKey({ asked, own, sign }: Hands, replaces: string | undefined): Promise<Held> {
  const { organizationId, identityId } = asked
  const { newOrganizationKey } = await loadVault()
  const key = newOrganizationKey()
  const fields = {
    ...(replaces !== undefined && { replaces }),
    fingerprint: await key.fingerprint(),
    ciphertext: await key.grantTo({ identityId, publicKey: own.publicKey }, organizationId),
  }
  const body = { ...fields, ...(await sign('organization.key.created', { organizationId, ...fields })) }
  const made = await callBusiness('POST /api/organizations/:organizationId/keys', { ...aboutIt(asked), body })
  return { record: made.key, key }
}

/** Opens what the member was granted. Throws `CannotOpen`. */
export async function openKey({ asked, own: { privateKey } }: Hands, record: KeyRecord): Promise<Held> {
  const { organizationId, identityId } = asked
  const { wraps } = await callBusiness(`GET ${grants}`, aboutKey(asked, record))
  const ciphertext = wraps.find((wrap) => wrap.identityId === identityId)?.ciphertext ?? ''
  const { openKeyGrant } = await loadVault()
  const place = { organizationId, identityId, fingerprint: record.fingerprint }
  return { record, key: await openKeyGrant(ciphertext, privateKey, place) }
}

/** Wraps a key to members, and forgets it. */
export async function shareKey({ asked, sign }: Hands, { record, key }: Held, recipients: Recipient[]): Promise<void> {
  const { organizationId } = asked
  const wraps = await Promise.all(
    recipients.map(async (recipient) => ({
      memberId: recipient.memberId,
      ciphertext: await key.grantTo(recipient, organizationId),
    })),
  )
  key.forget()
  while (wraps.length > 0) {
    const fields = { wraps: wraps.splice(0, limits.keyGrantsAtOnceMax) }
    const signed = await sign('organization.key.granted', { organizationId, keyId: record.keyId, ...fields })
    await callBusiness(`PUT ${grants}`, { ...aboutKey(asked, record), body: { ...fields, ...signed } })
  }
}

/** The parts of a call that say of which organization it is, and as whom. */
export function aboutIt({ organizationId, identityId }: Asked) {
  return { params: { organizationId }, querystring: { identity_id: identityId } }
}

/** The same about one of its keys. */
function aboutKey(asked: Asked, { keyId }: KeyRecord) {
  const { params, querystring } = aboutIt(asked)
  return { params: { ...params, keyId }, querystring }
}
