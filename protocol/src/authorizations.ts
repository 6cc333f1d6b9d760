import { Type, type Static } from 'typebox'
import { EncryptionMode } from './app-keys.ts'
import { endpoint, Nothing } from './endpoint.ts'
import { Base64, Ciphertext, ClientId, Instant, OrNull, Uuid } from './values.ts'

/** Longer texts are refused by the rule that reads them, with a sentence; this bounds what reaches it. */
const Text = Type.String({ maxLength: 16_384 })
const session = { security: 'session', cors: 'our pages' } as const

/** An app connected to an identity. The four encryption fields are null for an app without end-to-end encryption. */
export const Authorization = Type.Object({
  id: Uuid,
  clientId: ClientId,
  appName: Type.String(),
  appIconUrl: OrNull(Type.String()),
  appWebsiteUrl: OrNull(Type.String()),
  identityId: Uuid,
  scope: Type.String(),
  createdAt: Instant,
  lastAuthorizedAt: Instant,
  /** Of the key that was made last, where there is one of each mode. */
  encryptionMode: OrNull(EncryptionMode),
  encryptedAppKey: OrNull(Ciphertext),
  appPublicKey: OrNull(Base64),
  encryptedAppPrivateKey: OrNull(Ciphertext),
})
export type Authorization = Static<typeof Authorization>

export const listAuthorizations = endpoint(
  'GET /api/oauth/authorizations',
  { ...session, summary: 'List the apps that my identities connected' },
  {},
  { 200: Type.Object({ authorizations: Type.Array(Authorization) }) },
)

export const readAuthorization = endpoint(
  'GET /api/oauth/authorization/:clientId',
  { ...session, summary: 'What an identity has granted an app, and what of a wanted scope is missing' },
  {
    params: Type.Object({ clientId: ClientId }),
    querystring: Type.Object({ identity_id: Uuid, scope: Type.Optional(Text) }),
  },
  {
    200: Type.Object({
      authorization: Type.Union([Authorization, Type.Null()]),
      missingScopes: Type.Array(Type.String()),
    }),
  },
)

export const disconnect = endpoint(
  'DELETE /api/oauth/authorizations/:id',
  { ...session, summary: 'Disconnect an app: its codes and tokens for that identity end at once' },
  { params: Type.Object({ id: Uuid }) },
  { 204: Nothing },
)
