import type { KeyGrant, OrganizationKey } from '@countersign/protocol/organization-keys'
import { compactDecrypt } from 'jose'
import { openMasterKey } from '../keys/src/master-key.ts'
import { openKeyGrant } from '../keys/src/organization-key.ts'
import { keyFromRecoveryCode } from '../keys/src/recovery-code.ts'
import type { Served } from '../server/testing/service.ts'
import type { Person } from './person.ts'

/** Opens the key in force of an organization as a member's browser could: theirs opens by their recovery code too. */
export async function openOrganizationKey(person: Person, code: string, service: Served, organizationId: string) {
  const { user, identities } = await person.ask(service.baseUrl, 'GET /api/auth/session')
  const identityId = identities[0]?.identityId ?? ''
  const { keyWraps } = await person.ask(service.baseUrl, 'GET /api/account/key-wraps')
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')
  const masterKey = await openMasterKey(wrap?.ciphertext ?? '', await keyFromRecoveryCode(code), user.userId)
  const sealed = await read<{ encryptedPrivateKey: string }>(
    person,
    `${service.baseUrl}/api/encryption/keys/${identityId}`,
  )
  const privateKey = await masterKey.openEncryptionKey(identityId, sealed.encryptedPrivateKey)

  const keys = `${service.businessUrl}/api/organizations/${organizationId}/keys`
  const [inForce] = (await read<{ keys: OrganizationKey[] }>(person, keys, service.baseUrl)).keys
  if (!inForce) throw new Error('the organization has no key')
  const { wraps } = await read<{ wraps: KeyGrant[] }>(person, `${keys}/${inForce.keyId}/wraps`, service.baseUrl)
  const own = wraps.find((each) => each.identityId === identityId)
  const place = { organizationId, identityId, fingerprint: inForce.fingerprint }
  const ciphertext = own?.ciphertext ?? ''
  await openKeyGrant(ciphertext, privateKey, place)
  // What our own code opens it never lets out; a stranger's does, so that one can look whether the key got anywhere.
  const { plaintext } = await compactDecrypt(ciphertext, privateKey)
  return { version: inForce.version, fingerprint: inForce.fingerprint, bytes: Buffer.from(plaintext) }
}

/** Asks a host from the page where the person is; with `bearerFrom` as pages ask the host of organizations. */
async function read<Answered>({ page }: Person, url: string, bearerFrom?: string): Promise<Answered> {
  return page.evaluate(
    async ([address, baseUrl]) => {
      if (baseUrl === undefined) return (await fetch(address ?? '', { credentials: 'include' })).json()
      const opened = await fetch(`${baseUrl}/api/auth/session/business`, { method: 'POST', credentials: 'include' })
      const { businessToken } = await opened.json()
      return (await fetch(address ?? '', { headers: { authorization: `Bearer ${businessToken}` } })).json()
    },
    [url, bearerFrom],
  )
}
