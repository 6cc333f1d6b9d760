/** Replaces the keys of a user by new ones, after a recovery. Pages load it on demand, like `key-vault.ts`. */
import { generateMasterKey, type MasterKey } from '@countersign/keys/master-key'
import { prfSalt } from '@countersign/keys/prf'
import type { RequestOf } from '@countersign/protocol/api'
import { NetworkError, call } from '../../../lib/api/call.ts'
import { renewRecoveryCode, wrapMasterKeyForPasskey } from '../../../lib/keys/key-vault.ts'
import { confirmWithPasskey } from '../../../lib/keys/passkey.ts'
import { sealRecoveredRecord, type RecoveredKey } from '../../../lib/keys/self-check/recovered-record.ts'
import { readIdentityIds, UnreachableError } from '../../../lib/keys/self-check/service.ts'
import { recoverSigningKey } from '../../../lib/keys/signing-key.ts'

type Body = RequestOf<'POST /api/account/keys/reset'>['body']

/** New keys that are not in effect yet. Their user saves the recovery code first. */
export type NewKeys = { masterKey: MasterKey; recoveryCode: string; replacement: Body['recoveryCode'] }

/** Generates a new master key with its recovery code. Nothing is stored. */
export async function newKeys(userId: string): Promise<NewKeys> {
  const masterKey = generateMasterKey()
  return { masterKey, ...(await renewRecoveryCode(masterKey, userId)) }
}

/**
 * Puts new keys in effect, with one use of the passkey that a recovery link brought. It unlocks them if it has the PRF;
 * the recovery code does in any case. Everything is read again, so another try can follow any error.
 */
export async function resetKeys(
  { userId, credentialId }: { userId: string; credentialId: string },
  { masterKey, replacement }: NewKeys,
): Promise<void> {
  const { flowId, options } = await call('POST /api/auth/reauthenticate/start', { body: {} })
  const { rpId, challenge } = options
  const confirmation = { rpId, challenge, credentialIds: [credentialId] }
  const { credential, used } = await confirmWithPasskey(confirmation, await prfSalt())
  const { prfOutput } = used
  const keyWrap = prfOutput && (await wrapMasterKeyForPasskey(masterKey, { credentialId, prfOutput }, userId))
  const keys = await newKeysOfAll(masterKey)
  const selfRecord = await nextRecord({ masterKey, userId }, keys)
  const body: Body = {
    ...{ flowId, credential, recoveryCode: replacement, selfRecord, identities: keys },
    ...(keyWrap && { keyWrap }),
  }
  await call('POST /api/account/keys/reset', { body })
}

/** Makes new keys for all identities of the account, each of the kinds that it has. */
async function newKeysOfAll(masterKey: MasterKey): Promise<Body['identities']> {
  const identities: Body['identities'] = []
  for (const identityId of await readIdentityIds()) {
    const params = { identityId }
    const signing = await call('GET /api/signing/keys/:identityId', { params })
    const encryption = await call('GET /api/encryption/keys/:identityId', { params })
    identities.push({
      identityId,
      ...(signing.hasKey && { signingKey: await recoverSigningKey(masterKey, signing) }),
      ...(encryption.hasKey && { encryptionKey: await masterKey.newEncryptionKey(identityId) }),
    })
  }
  return identities
}

async function nextRecord(owner: { masterKey: MasterKey; userId: string }, identities: Body['identities']) {
  const { record } = await call('GET /api/account/self-record', {})
  const sequence = (record?.sequence ?? 0) + 1
  const keys: RecoveredKey[] = identities.map(({ identityId, signingKey }) => ({ identityId, signing: signingKey }))
  try {
    return { sequence, ciphertext: await sealRecoveredRecord(owner, keys, sequence) }
  } catch (error) {
    // The keys are not in effect yet, so their user can try again.
    if (error instanceof UnreachableError) throw new NetworkError('The log gave no answer', { cause: error })
    throw error
  }
}
