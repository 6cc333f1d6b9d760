import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { RequestOf } from '@countersign/protocol/api'
import { ApiError, call } from '../api/call.ts'
import { withRecentAuthentication } from './passkey.ts'

const loadVault = () => import('./key-vault.ts')

/**
 * A recovery code that its user has not saved yet. Nothing of it is stored before. `isFirst` if the account has no keys
 * yet: they are created when the code takes effect, so that no key exists which nothing could unlock.
 */
export type NewRecoveryCode = {
  recoveryCode: string
  replacement: Omit<RequestOf<'PUT /api/account/recovery'>['body'], 'ifNone'>
  isFirst: boolean
}

type Owner = { userId: string; identityId: string }

/** Generates a recovery code for unlocked keys. */
export async function newRecoveryCode(masterKey: MasterKey, userId: string): Promise<NewRecoveryCode> {
  const { renewRecoveryCode } = await loadVault()
  return { ...(await renewRecoveryCode(masterKey, userId)), isFirst: false }
}

/** Generates the first recovery code of an account without keys. */
export async function firstRecoveryCode(userId: string): Promise<NewRecoveryCode> {
  const { generateMasterKey, renewRecoveryCode } = await loadVault()
  const masterKey = generateMasterKey()
  const code = await renewRecoveryCode(masterKey, userId)
  masterKey.forget()
  return { ...code, isFirst: true }
}

/**
 * Puts a code in effect, after its user has saved it. With `ifNone`, a code that is already in effect stays, and the
 * result is undefined. Returns the key wraps of the account.
 */
export async function activateRecoveryCode(
  { replacement }: NewRecoveryCode,
  { ifNone }: { ifNone: boolean },
): Promise<KeyWrap[] | undefined> {
  const body = { ...replacement, ...(ifNone && { ifNone: true as const }) }
  // Saving a code may take the user longer than their authentication counts as recent.
  const storing = withRecentAuthentication(() => call('PUT /api/account/recovery', { body }))
  const stored = await storing.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'recovery_code_exists') return undefined
    throw error
  })
  return stored?.keyWraps
}

/**
 * Creates the first keys of an account whose recovery code alone unlocks them. Keys that exist stay, so that another
 * try completes the set.
 */
export async function createFirstKeys(
  { userId, identityId }: Owner,
  { recoveryCode }: NewRecoveryCode,
  keyWraps: KeyWrap[],
): Promise<void> {
  const { unlockWithRecoveryCode, createSigningKey, recordNewKey } = await loadVault()
  const masterKey = await unlockWithRecoveryCode(keyWraps, recoveryCode, userId)
  if (!masterKey) throw new Error('The new recovery code does not unlock its own key wrap.')
  try {
    const params = { identityId }
    const signing = await call('GET /api/signing/keys/:identityId', { params })
    if (!signing.hasKey) {
      const body = await createSigningKey(masterKey, identityId, signing.chain.log)
      const { logEntry } = await call('POST /api/signing/keys/:identityId', { params, body })
      await recordNewKey({ masterKey, userId }, identityId, { publicKey: body.publicKey, promised: logEntry })
    }
    const encryption = await call('GET /api/encryption/keys/:identityId', { params })
    if (encryption.hasKey) return
    await call('POST /api/encryption/keys/:identityId', { params, body: await masterKey.newEncryptionKey(identityId) })
  } finally {
    masterKey.forget()
  }
}

/**
 * Returns whether an account has never had keys, as far as the service and this device know. A service that conceals
 * keys must not make its user replace them.
 */
export async function hasNeverHadKeys(userId: string): Promise<boolean> {
  const { remembersKeys } = await loadVault()
  if (await remembersKeys(userId)) return false
  const [{ record }, { keys }] = await Promise.all([
    call('GET /api/account/self-record', {}),
    call('GET /api/signing/keys', {}),
  ])
  return record === null && keys.length === 0
}
