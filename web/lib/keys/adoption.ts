import type { MasterKey } from '@countersign/keys/master-key'
import type { ResponseOf } from '@countersign/protocol/api'
import { ApiError, call } from '../api/call.ts'
import { adoptSigningKey } from './signing-key.ts'

/** Adoption is decided already: another tab was first, or the key was replaced. */
const isDecided = (error: unknown) =>
  error instanceof ApiError && ['key_already_proved', 'key_history_changed'].includes(error.code)

/**
 * Proves an unlocked key to the log if it was made without proofs, before it signs. Returns the key as it is then. Only
 * the key in use: the log must not show which identities unlock together. A key that is not of this account signs
 * nothing: `adoptSigningKey` throws. Without a self-record the key stays unproved, because devices of the user would
 * take the record of a proved key for withheld. It then returns undefined.
 */
export async function adoptIfUnproved(masterKey: MasterKey, key: OwnKey): Promise<OwnKey | undefined> {
  const body = await adoptSigningKey(masterKey, key)
  if (!body) return key
  const { record } = await call('GET /api/account/self-record', {})
  if (record === null) return undefined
  const params = { identityId: key.identityId }
  try {
    return await call('POST /api/signing/keys/:identityId/adoption', { params, body })
  } catch (error) {
    if (!isDecided(error)) throw error
    const current = await call('GET /api/signing/keys/:identityId', { params })
    return current.hasKey ? current : key
  }
}

type OwnKey = Extract<ResponseOf<'GET /api/signing/keys/:identityId'>, { hasKey: true }>
