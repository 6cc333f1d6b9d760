import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Base64, Ciphertext, ClientId, Instant, OrNull, Uuid } from '../values.ts'

export const EncryptionMode = Type.Union([Type.Literal('symmetric'), Type.Literal('asymmetric')])
export type EncryptionMode = Static<typeof EncryptionMode>

/** The key of an app for an identity as its browser sealed it; what is not of its mode is null. */
export const SealedAppKey = Type.Object({
  encryptionMode: EncryptionMode,
  encryptedAppKey: OrNull(Ciphertext),
  appPublicKey: OrNull(Base64),
  encryptedAppPrivateKey: OrNull(Ciphertext),
  createdAt: Instant,
})
export type SealedAppKey = Static<typeof SealedAppKey>

export const lookUpAppKey = endpoint(
  'GET /api/encryption/app-lookup',
  { security: 'none', cors: 'any origin', summary: 'The public key of an identity in an app, by handle or by the key' },
  {
    querystring: Type.Object({
      client_id: Type.Optional(ClientId),
      handle: Type.Optional(Type.String({ maxLength: 200 })),
      public_key: Type.Optional(Type.String({ maxLength: 1000, description: 'Base64 of the SPKI' })),
    }),
  },
  {
    200: Type.Object({
      clientId: ClientId,
      identityId: Uuid,
      handle: Type.String(),
      displayName: Type.String(),
      publicKey: Base64,
      encryptionMode: Type.Literal('asymmetric'),
    }),
  },
)
