import { Type, type Static } from 'typebox'
import { KeyWrap, NewKeyPair, PasskeyWrap, RecoveryAuth, SelfRecordEntry } from '../accounts/keys.ts'
import { AuthenticationResponse } from '../accounts/passkeys.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId } from '../ids.ts'
import { Ciphertext, UncheckedPublicKey, UncheckedSignature } from '../values.ts'
import { LoggedSigningKey } from './keys.ts'

/** Signing key that replaces a lost one: it proves possession over its log entry, and has no link. */
const RecoveredSigningKey = Type.Object({
  publicKey: UncheckedPublicKey,
  encryptedPrivateKey: Ciphertext,
  previous: Type.String({ maxLength: 200, description: 'Hash of the last log entry, from `chain.previous`' }),
  possession: Type.String({
    ...UncheckedSignature,
    description: 'Ed25519 signature by the key over its log entry `recovered` (countersign/key-possession/v2), base64',
  }),
})
export type RecoveredSigningKey = Static<typeof RecoveredSigningKey>

const ResetIdentity = Type.Object({
  identityId: IdentityId,
  signingKey: Type.Optional(RecoveredSigningKey),
  encryptionKey: Type.Optional(NewKeyPair),
})

/** Without `keyWrap`, the passkey has no PRF, and the new recovery code alone unlocks the keys. */
const KeyReset = Type.Object({
  flowId: Type.String({ maxLength: 100, description: 'Of `POST /api/auth/reauthenticate/start`' }),
  credential: AuthenticationResponse,
  keyWrap: Type.Optional(PasskeyWrap),
  recoveryCode: Type.Object({ recoveryAuth: RecoveryAuth, ciphertext: Ciphertext }),
  selfRecord: SelfRecordEntry,
  identities: Type.Array(ResetIdentity, {
    minItems: 1,
    maxItems: limits.identitiesPerUserMax,
    description: 'All identities of the account, each with new keys of the kinds that it has',
  }),
})
export type KeyReset = Static<typeof KeyReset>

export const resetKeys = endpoint(
  'POST /api/account/keys/reset',
  {
    security: 'session',
    cors: 'first party',
    summary: 'Replace the keys of my account after a recovery, with the passkey that its link brought',
  },
  { body: KeyReset },
  { 200: Type.Object({ keyWraps: Type.Array(KeyWrap), signingKeys: Type.Array(LoggedSigningKey) }) },
)
