import { Type, type Static } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId } from '../ids.ts'
import { Base64, Base64Url, Ciphertext, CredentialId, Timestamp, Uuid } from '../values.ts'

const Kind = Type.Union([Type.Literal('passkey_prf'), Type.Literal('recovery_code'), Type.Literal('device')])

/** Wrap of the master key as created by the browser. The server stores it and cannot unwrap it. */
export const NewKeyWrap = Type.Object({
  kind: Kind,
  credentialId: Type.Optional(Base64Url),
  ciphertext: Ciphertext,
})
export type NewKeyWrap = Static<typeof NewKeyWrap>

/** Wrap of the master key for one passkey. */
export const PasskeyWrap = Type.Object({
  kind: Type.Literal('passkey_prf'),
  credentialId: CredentialId,
  ciphertext: Ciphertext,
})
export type PasskeyWrap = Static<typeof PasskeyWrap>

export const KeyWrap = Type.Object({
  wrapId: Uuid,
  kind: Kind,
  credentialId: Type.Optional(Base64Url),
  ciphertext: Ciphertext,
  createdAt: Timestamp,
})
export type KeyWrap = Static<typeof KeyWrap>

export const NewKeyWraps = Type.Array(NewKeyWrap, { maxItems: limits.keyWrapsMax })

/** Key pair created in the browser: the public key in clear, the private key as a ciphertext. */
export const NewKeyPair = Type.Object({ publicKey: Base64, encryptedPrivateKey: Ciphertext })
export type NewKeyPair = Static<typeof NewKeyPair>

/** First signing key of an identity, with the proof that its holder made it. */
export const NewSigningKeyPair = Type.Object({
  ...NewKeyPair.properties,
  possession: Type.Optional(
    Type.String({ maxLength: 200, description: 'Signature by the new key over its log entry, base64' }),
  ),
})

/** Value by which the server can check a recovery code: 32 bytes derived from it, which cannot unwrap any key. */
export const RecoveryAuth = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/**
 * State of a user's recovery code. It takes effect when its user says that they have saved it; a used one has ended.
 */
export const RecoveryCodeState = Type.Object({
  confirmedAt: Type.Union([Timestamp, Type.Null()], { description: 'Null if no recovery code is in effect' }),
})

const session = { security: 'session', cors: 'first party' } as const
const KeyWraps = Type.Object({ keyWraps: Type.Array(KeyWrap) })

export const listKeyWraps = endpoint(
  'GET /api/account/key-wraps',
  { ...session, summary: 'Get the wraps of my master key' },
  {},
  { 200: KeyWraps },
)

export const replaceKeyWraps = endpoint(
  'PUT /api/account/key-wraps',
  { ...session, summary: 'Replace the wraps of my master key' },
  { body: Type.Object({ keyWraps: NewKeyWraps }) },
  { 200: KeyWraps },
)

export const addKeyWrap = endpoint(
  'POST /api/account/key-wraps',
  { ...session, summary: 'Add a wrap of my master key for one of my passkeys' },
  { body: PasskeyWrap },
  { 201: KeyWrap },
)

export const getRecoveryCodeStatus = endpoint(
  'GET /api/account/recovery',
  { ...session, summary: 'Get the creation time of my current recovery code, if there is one' },
  {},
  { 200: Type.Object({ createdAt: Type.Union([Timestamp, Type.Null()]) }) },
)

export const replaceRecoveryCode = endpoint(
  'PUT /api/account/recovery',
  { ...session, summary: 'Replace my recovery code' },
  {
    body: Type.Object({
      recoveryAuth: RecoveryAuth,
      ciphertext: Ciphertext,
      ifNone: Type.Optional(
        Type.Literal(true, {
          description: 'Store it only if no other code is in effect; otherwise 409 recovery_code_exists',
        }),
      ),
    }),
  },
  { 200: KeyWraps },
)

/** Self-record of a user: sealed by their browser, opaque to the service. */
const SelfRecordCiphertext = Type.String({ minLength: 1, maxLength: limits.selfRecordCiphertextBytesMax })
const Sequence = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })
/** First self-record, which a registration may bring along. */
export const FirstSelfRecord = SelfRecordCiphertext

export const SelfRecordEntry = Type.Object({ sequence: Sequence, ciphertext: SelfRecordCiphertext })
export type SelfRecordEntry = Static<typeof SelfRecordEntry>

export const getSelfRecord = endpoint(
  'GET /api/account/self-record',
  { ...session, summary: 'Get the sealed record with which my browser checks my keys; null if there is none' },
  {},
  { 200: Type.Object({ record: Type.Union([SelfRecordEntry, Type.Null()]) }) },
)

export const replaceSelfRecord = endpoint(
  'PUT /api/account/self-record',
  {
    ...session,
    summary:
      'Store the successor of my sealed record: its sequence is one more than that of the stored one, and 1 for the ' +
      'first; requires recent authentication',
  },
  { body: SelfRecordEntry },
  { 204: NoContent },
)

/**
 * What a reset has replaced: of all keys, what only the former master key opens; of an app key, its ciphertext.
 * `reference` names the key or app that it belongs to, by kind.
 */
export const FormerCiphertext = Type.Object({
  kind: Type.Union([
    Kind,
    Type.Literal('self_record'),
    Type.Literal('encryption_key'),
    Type.Literal('signing_key'),
    Type.Literal('app_key'),
    Type.Literal('organization_key'),
  ]),
  identityId: Type.Union([IdentityId, Type.Null()]),
  reference: Type.Union([Type.String(), Type.Null()]),
  ciphertext: Type.String(),
  replacedAt: Timestamp,
  deletedAt: Timestamp,
})
export type FormerCiphertext = Static<typeof FormerCiphertext>

/** Encryption key of an identity, to which other users can encrypt. */
export const IdentityKey = Type.Object({
  identityId: IdentityId,
  hasKey: Type.Literal(true),
  publicKey: Base64,
  encryptedPrivateKey: Ciphertext,
  createdAt: Timestamp,
})
export type IdentityKey = Static<typeof IdentityKey>

const ByIdentity = Type.Object({ identityId: IdentityId })

export const getIdentityEncryptionKey = endpoint(
  'GET /api/encryption/keys/:identityId',
  { ...session, summary: 'Get the encryption key of one of my identities, if it has one' },
  { params: ByIdentity },
  { 200: Type.Object({ ...Type.Partial(IdentityKey).properties, identityId: IdentityId, hasKey: Type.Boolean() }) },
)

export const getPublicEncryptionKey = endpoint(
  'GET /api/encryption/identity-key/:handle',
  { security: 'none', cors: 'any origin', summary: 'Get the public encryption key of an identity' },
  { params: Type.Object({ handle: Type.String({ pattern: handlePattern }) }) },
  {
    200: Type.Object({
      handle: Type.String(),
      publicKey: Base64,
      createdAt: Timestamp,
      recoveredAt: Type.Union([Timestamp, Type.Null()], {
        description: 'When it replaced a lost key, after a recovery of the account. It may be another person’s.',
      }),
    }),
  },
)

export const createIdentityKey = endpoint(
  'POST /api/encryption/keys/:identityId',
  { ...session, summary: 'Create the encryption key of one of my identities' },
  { params: ByIdentity, body: NewKeyPair },
  { 201: IdentityKey },
)
