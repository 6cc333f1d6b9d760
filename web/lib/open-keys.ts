import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { call } from './call.ts'
import { evaluatePrfOfOne, reauthenticate, type UsedPasskey } from './passkey.ts'

/** The wraps of the master key, and the key itself where a passkey has opened one of them. */
export type Opened = { keyWraps: KeyWrap[]; masterKey?: MasterKey }

/** Opens the master key with a passkey. The same touch proves to the server that the person is there. */
export async function openKeys(userId: string): Promise<Opened> {
  return openWith(userId, (credentialIds, salt) => reauthenticate(salt, { credentialIds }))
}

/**
 * Opens the master key in a frame of another origin, from where the server accepts no assertion (WebAuthn §7.2 step
 * 14): this touch proves nothing to it.
 */
export async function openKeysInFrame(userId: string, rpId: string): Promise<Opened> {
  return openWith(userId, (credentialIds, salt) => evaluatePrfOfOne(rpId, credentialIds, salt))
}

type Touch = (credentialIds: string[], salt: BufferSource) => Promise<UsedPasskey>

async function openWith(userId: string, touch: Touch): Promise<Opened> {
  const [vault, { keyWraps }] = await Promise.all([import('./vault.ts'), call('GET /api/account/key-wraps', {})])
  const openers = keyWraps.flatMap(({ kind, credentialId }) => (kind === 'passkey_prf' ? (credentialId ?? []) : []))
  if (openers.length === 0) return { keyWraps }
  const masterKey = await vault.openWithPasskey(keyWraps, await touch(openers, await vault.prfSalt()), userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}
