import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { limits } from '../formats/limits.ts'
import { Base64, Base64Url, Ciphertext, CredentialId, Instant, Uuid } from '../values.ts'

const Kind = Type.Union([Type.Literal('passkey_prf'), Type.Literal('recovery_code'), Type.Literal('device')])

/** A wrap of the master key as the browser made it. The server keeps it and cannot open it. */
export const NewKeyWrap = Type.Object({
  kind: Kind,
  credentialId: Type.Optional(Base64Url),
  ciphertext: Ciphertext,
})
export type NewKeyWrap = Static<typeof NewKeyWrap>

/** The wrap that one passkey opens. */
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
  createdAt: Instant,
})
export type KeyWrap = Static<typeof KeyWrap>

export const NewKeyWraps = Type.Array(NewKeyWrap, { maxItems: limits.keyWrapsMax })

/** A key pair made in the browser: the public half in clear, the private half as a ciphertext. */
export const NewKeyPair = Type.Object({ publicKey: Base64, encryptedPrivateKey: Ciphertext })
export type NewKeyPair = Static<typeof NewKeyPair>

/** What the server may check of a recovery code: 32 bytes derived from it, which do not unwrap anything. */
export const RecoveryAuth = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

const session = { security: 'session', cors: 'our pages' } as const
const KeyWraps = Type.Object({ keyWraps: Type.Array(KeyWrap) })

export const readKeyWraps = endpoint(
  'GET /api/account/key-wraps',
  { ...session, summary: 'Read the wraps of my master key' },
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
  { ...session, summary: 'Let one of my passkeys open my keys' },
  { body: PasskeyWrap },
  { 201: KeyWrap },
)

export const readRecovery = endpoint(
  'GET /api/account/recovery',
  { ...session, summary: 'Since when I have my recovery code, if one is in force' },
  {},
  { 200: Type.Object({ createdAt: Type.Union([Instant, Type.Null()]) }) },
)

export const replaceRecovery = endpoint(
  'PUT /api/account/recovery',
  { ...session, summary: 'Replace my recovery code' },
  { body: Type.Object({ recoveryAuth: RecoveryAuth, ciphertext: Ciphertext }) },
  { 200: KeyWraps },
)

/** The encryption key of one of my identities, to which others may encrypt. */
export const IdentityKey = Type.Object({
  identityId: Uuid,
  hasKey: Type.Literal(true),
  publicKey: Base64,
  encryptedPrivateKey: Ciphertext,
  createdAt: Instant,
})
export type IdentityKey = Static<typeof IdentityKey>

const ByIdentity = Type.Object({ identityId: Uuid })

export const readIdentityKey = endpoint(
  'GET /api/encryption/keys/:identityId',
  { ...session, summary: 'The encryption key of one of my identities, where it has one' },
  { params: ByIdentity },
  { 200: Type.Object({ ...Type.Partial(IdentityKey).properties, identityId: Uuid, hasKey: Type.Boolean() }) },
)

export const lookUpIdentityKey = endpoint(
  'GET /api/encryption/identity-key/:handle',
  { security: 'none', cors: 'any origin', summary: 'The public key to which anybody may encrypt for an identity' },
  { params: Type.Object({ handle: Type.String({ pattern: handlePattern }) }) },
  { 200: Type.Object({ handle: Type.String(), publicKey: Base64, createdAt: Instant }) },
)

export const createIdentityKey = endpoint(
  'POST /api/encryption/keys/:identityId',
  { ...session, summary: 'Give one of my identities its encryption key' },
  { params: ByIdentity, body: NewKeyPair },
  { 201: IdentityKey },
)
