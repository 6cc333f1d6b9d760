import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { IdentityId } from '../ids.ts'
import { AnyText, Ciphertext, Timestamp } from '../values.ts'
import { PublicKey, UncheckedPublicKey, UncheckedSignature } from '../values.ts'
import { PromisedKeyEvent } from './transparency.ts'

const NullableInstant = Type.Union([Timestamp, Type.Null()])

export const getPublicSigningKey = endpoint(
  'GET /api/signing/public-key/:handle',
  { security: 'none', cors: 'any origin', summary: 'Get the signing key of an identity, now or at an instant' },
  {
    params: Type.Object({ handle: Type.String({ pattern: handlePattern }) }),
    querystring: Type.Object({
      at: Type.Optional(
        Type.Unsafe<string>({
          ...Timestamp,
          description:
            'Find the key that was the current one at this instant. If the identity got this handle later, the ' +
            'answer is no_signing_key: the handle may have named another identity. When identities got the ' +
            'handles that they have had since version 0.1.0 is not known. A former handle is found for the time ' +
            'in which its identity had it, while it is reserved: 90 days.',
        }),
      ),
      identityId: Type.Optional(
        Type.Unsafe<IdentityId>({
          ...IdentityId,
          description: 'Find the key of this identity alone, also of the time before it got this handle',
        }),
      ),
    }),
  },
  {
    200: Type.Object({
      handle: Type.String(),
      publicKey: PublicKey,
      createdAt: Timestamp,
      endedAt: NullableInstant,
      keyVersion: Type.Integer(),
      recoveredAt: Type.Union([Timestamp, Type.Null()], {
        description:
          'When this key, or one before it, replaced a lost key after a recovery of the account. Nothing links it to ' +
          'the keys before: it may be another person’s.',
      }),
    }),
  },
)

export const verifySignature = endpoint(
  'POST /api/signing/verify',
  { security: 'none', cors: 'any origin', summary: 'Verify a signature of a message by a key' },
  { body: Type.Object({ message: AnyText, signature: AnyText, publicKey: AnyText }) },
  {
    200: Type.Object({
      valid: Type.Boolean(),
      error: Type.Optional(
        Type.Union([
          Type.Literal('invalid_signature'),
          Type.Literal('malformed_signature'),
          Type.Literal('malformed_public_key'),
        ]),
      ),
    }),
  },
)

const ByIdentity = Type.Object({ identityId: IdentityId })
const session = { security: 'session', cors: 'first party' } as const

export const SigningKey = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  hasKey: Type.Literal(true),
  publicKey: PublicKey,
  encryptedPrivateKey: Ciphertext,
  createdAt: Timestamp,
  rotatedAt: NullableInstant,
  keyVersion: Type.Integer(),
  former: Type.Array(
    Type.Object({ keyVersion: Type.Integer(), publicKey: PublicKey, createdAt: Timestamp, endedAt: Timestamp }),
    { description: 'Former keys, newest first' },
  ),
})
export type SigningKey = Static<typeof SigningKey>

/** What the next log entry of an identity's key follows, and how the current key can still be proved. */
const KeyChain = Type.Object({
  log: Type.String({ description: 'Name of the log of signing keys' }),
  previous: Type.Union([Type.String(), Type.Null()], {
    description: 'Hash of the last log entry of this identity, base64; null before the first',
  }),
  adoption: Type.Optional(
    Type.Object(
      {
        former: Type.Optional(
          Type.Object(
            { publicKey: PublicKey, encryptedPrivateKey: Ciphertext },
            { description: 'Key before, which has not signed the current one' },
          ),
        ),
      },
      { description: 'Present if the current key was logged without proofs and can be adopted' },
    ),
  ),
})
export type KeyChain = Static<typeof KeyChain>

/** Key of one identity, with its place in the log. */
export const ChainedSigningKey = Type.Object({ ...SigningKey.properties, chain: KeyChain })
export type ChainedSigningKey = Static<typeof ChainedSigningKey>

/** Key that was just made or proved, with the log's promise to contain its entry. */
export const LoggedSigningKey = Type.Object({ ...ChainedSigningKey.properties, logEntry: PromisedKeyEvent })
export type LoggedSigningKey = Static<typeof LoggedSigningKey>

const NoKey = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  hasKey: Type.Literal(false),
  chain: KeyChain,
})

export const listSigningKeys = endpoint(
  'GET /api/signing/keys',
  { ...session, summary: 'List the signing keys of my identities' },
  {},
  { 200: Type.Object({ keys: Type.Array(SigningKey) }) },
)

export const getSigningKey = endpoint(
  'GET /api/signing/keys/:identityId',
  { ...session, summary: 'Get the signing key of one of my identities' },
  { params: ByIdentity },
  { 200: Type.Union([ChainedSigningKey, NoKey]) },
)

const Possession = Type.String({
  ...UncheckedSignature,
  description: 'Ed25519 signature by the key over its log entry (countersign/key-possession/v2), base64',
})
const Link = Type.String({
  ...UncheckedSignature,
  description: 'Ed25519 signature by the former key over the log entry (countersign/key-link/v2), base64',
})
const Previous = Type.String({ maxLength: 200, description: 'Hash of the last log entry, from `chain.previous`' })

export const NewSigningKey = Type.Object({
  publicKey: UncheckedPublicKey,
  encryptedPrivateKey: Ciphertext,
  possession: Type.Optional(Possession),
})
export type NewSigningKey = Static<typeof NewSigningKey>

export const createSigningKey = endpoint(
  'POST /api/signing/keys/:identityId',
  { ...session, summary: 'Create the first signing key of one of my identities' },
  { params: ByIdentity, body: NewSigningKey },
  { 201: LoggedSigningKey },
)

const Rotation = Type.Object({
  publicKey: UncheckedPublicKey,
  encryptedPrivateKey: Ciphertext,
  rotationSignature: UncheckedSignature,
  previous: Type.Optional(Previous),
  link: Type.Optional(Link),
  possession: Type.Optional(Possession),
})
export type Rotation = Static<typeof Rotation>

export const rotateSigningKey = endpoint(
  'PUT /api/signing/keys/:identityId',
  { ...session, summary: 'Rotate a signing key; the current key must sign the new one' },
  { params: ByIdentity, body: Rotation },
  { 200: LoggedSigningKey },
)

const Adoption = Type.Object({ previous: Previous, possession: Possession, link: Type.Optional(Link) })
export type Adoption = Static<typeof Adoption>

export const adoptSigningKey = endpoint(
  'POST /api/signing/keys/:identityId/adoption',
  { ...session, summary: 'Prove a signing key that was made without proofs, once' },
  { params: ByIdentity, body: Adoption },
  { 200: LoggedSigningKey },
)
