import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/keys'
import { call } from './call.ts'
import { evaluatePrfOfOne } from './passkey.ts'

/** Opens the master key with a passkey; without one that can, it answers what else there is to open it with. */
export async function openKeys(userId: string, rpId: string): Promise<{ keyWraps: KeyWrap[]; masterKey?: MasterKey }> {
  const [vault, { keyWraps }] = await Promise.all([import('./vault.ts'), call('GET /api/account/key-wraps', {})])
  const openers = keyWraps.flatMap(({ kind, credentialId }) => (kind === 'passkey_prf' ? (credentialId ?? []) : []))
  if (openers.length === 0) return { keyWraps }
  const used = await evaluatePrfOfOne(rpId, openers, await vault.prfSalt())
  const masterKey = await vault.openWithPasskey(keyWraps, used, userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}
