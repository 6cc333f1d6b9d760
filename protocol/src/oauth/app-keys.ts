import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { Base64, Ciphertext, Timestamp, nullable } from '../values.ts'

export const EncryptionMode = Type.Union([Type.Literal('symmetric'), Type.Literal('asymmetric')])
export type EncryptionMode = Static<typeof EncryptionMode>

/** Key of an app for an identity, as encrypted by its browser; fields of the other mode are null. */
export const SealedAppKey = Type.Object({
  encryptionMode: EncryptionMode,
  encryptedAppKey: nullable(Ciphertext),
  appPublicKey: nullable(Base64),
  encryptedAppPrivateKey: nullable(Ciphertext),
  createdAt: Timestamp,
})
export type SealedAppKey = Static<typeof SealedAppKey>

export const findAppPublicKey = endpoint(
  'GET /api/encryption/app-lookup',
  { security: 'none', cors: 'any origin', summary: 'Get the public key of an identity in an app, by handle or by key' },
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
      identityId: IdentityId,
      handle: Type.String(),
      displayName: Type.String(),
      publicKey: Base64,
      encryptionMode: Type.Literal('asymmetric'),
    }),
  },
)

export const resealAppKey = endpoint(
  'PUT /api/oauth/authorization/:clientId/app-key',
  {
    security: 'session',
    cors: 'first party',
    summary: 'Store the key of an app for one of my identities again, with other places to which it may be delivered',
  },
  {
    params: Type.Object({ clientId: ClientId }),
    body: Type.Object({
      identityId: IdentityId,
      encryptionMode: EncryptionMode,
      /** Ciphertext to replace. If another one is stored, nothing changes. */
      replaces: Ciphertext,
      ciphertext: Ciphertext,
    }),
  },
  { 204: NoContent },
)
