import { Type, type Static } from 'typebox'
import { EncryptionMode } from './app-keys.ts'
import { OrganizationAccess } from '../clients/apps.ts'
import { CommunicationMode, Delegation } from './delegations.ts'
import { endpoint, Nothing } from '../endpoint.ts'
import { OrganizationChoice } from '../organizations/organization-context.ts'
import { Base64, Ciphertext, ClientId, Instant, OrNull, Uuid } from '../values.ts'

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
  /** As the user chose; `null` where they were not asked. The app has it within what it registered. */
  organizationAccess: OrNull(OrganizationAccess),
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
  {
    ...session,
    ssoSession: 'its organization',
    summary: 'What an identity has granted an app, there or at a resource of another, and what is missing',
  },
  {
    params: Type.Object({ clientId: ClientId }),
    querystring: Type.Object({
      identity_id: Uuid,
      scope: Type.Optional(Text),
      /** A resource key; with it `requested_scope` and `communication_mode` count. */
      requested_resource: Type.Optional(Text),
      requested_scope: Type.Optional(Text),
      communication_mode: Type.Optional(CommunicationMode),
      /** With it, whatever it says, the answer has the organizations to choose among. */
      organization_id: Type.Optional(Text),
    }),
  },
  {
    200: Type.Object({
      authorization: Type.Union([Authorization, Type.Null()]),
      missingScopes: Type.Array(Type.String()),
      /** Of the resource that was asked for; without one that is active it is left out. */
      connector: Type.Optional(
        Type.Object({
          delegation: Type.Union([Delegation, Type.Null()]),
          missingScopes: Type.Array(Type.String()),
          /** Whether the delegation in force allows all that was asked, also in its mode. */
          covered: Type.Boolean(),
        }),
      ),
      organizations: Type.Optional(Type.Array(OrganizationChoice)),
    }),
  },
)

export const disconnect = endpoint(
  'DELETE /api/oauth/authorizations/:id',
  { ...session, summary: 'Disconnect an app: its codes and tokens for that identity end at once' },
  { params: Type.Object({ id: Uuid }) },
  { 204: Nothing },
)
