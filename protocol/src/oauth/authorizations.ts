import { Type, type Static } from 'typebox'
import { EncryptionMode } from './app-keys.ts'
import { OrganizationAccess } from '../clients/apps.ts'
import { CommunicationMode, Delegation } from './delegations.ts'
import { endpoint, NoContent } from '../endpoint.ts'
import { OrganizationChoice } from '../organizations/organizations.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { Base64, Ciphertext, Timestamp, nullable, Uuid } from '../values.ts'

/** Longer texts get the error of their own parser; this limits its input. */
const Text = Type.String({ maxLength: 16_384 })
const session = { security: 'session', cors: 'first party' } as const

/** App connected to an identity. The four encryption fields are null for an app without end-to-end encryption. */
export const Authorization = Type.Object({
  id: Uuid,
  clientId: ClientId,
  appName: Type.String(),
  appIconUrl: nullable(Type.String()),
  appWebsiteUrl: nullable(Type.String()),
  identityId: IdentityId,
  scope: Type.String(),
  /** The user's choice; `null` if the user was not asked. The app's own setting limits it further. */
  organizationAccess: nullable(OrganizationAccess),
  createdAt: Timestamp,
  lastAuthorizedAt: Timestamp,
  /** Of the most recent key, if there is one of each mode. */
  encryptionMode: nullable(EncryptionMode),
  encryptedAppKey: nullable(Ciphertext),
  appPublicKey: nullable(Base64),
  encryptedAppPrivateKey: nullable(Ciphertext),
})
export type Authorization = Static<typeof Authorization>

export const listAuthorizations = endpoint(
  'GET /api/oauth/authorizations',
  { ...session, summary: 'List the apps that my identities connected' },
  {},
  { 200: Type.Object({ authorizations: Type.Array(Authorization) }) },
)

const accessDenied = (description: string) =>
  Type.Object(
    { contact: Type.Union([Type.String(), Type.Null()], { description: 'Contact of the app for access' }) },
    { description },
  )

export const getAuthorization = endpoint(
  'GET /api/oauth/authorization/:clientId',
  {
    ...session,
    ssoSession: 'its organization',
    recoveredSession: true,
    summary: 'Get what an identity has granted an app, also at a resource, and what is missing',
  },
  {
    params: Type.Object({ clientId: ClientId }),
    querystring: Type.Object({
      identity_id: IdentityId,
      scope: Type.Optional(Text),
      /** Resource key; required for `requested_scope` and `communication_mode`. */
      requested_resource: Type.Optional(Text),
      requested_scope: Type.Optional(Text),
      communication_mode: Type.Optional(CommunicationMode),
      /** With any value, the answer lists the organizations to choose from. */
      organization_id: Type.Optional(Text),
    }),
  },
  {
    200: Type.Object({
      authorization: Type.Union([Authorization, Type.Null()]),
      missingScopes: Type.Array(Type.String()),
      accessDenied: Type.Optional(accessDenied('The identity may not use the app')),
      /** Of the requested resource; omitted if it is not active. */
      connector: Type.Optional(
        Type.Object({
          delegation: Type.Union([Delegation, Type.Null()]),
          missingScopes: Type.Array(Type.String()),
          /** True if the active delegation allows the whole request, including its mode. */
          covered: Type.Boolean(),
          accessDenied: Type.Optional(accessDenied('The identity may not use the app of the resource')),
        }),
      ),
      organizations: Type.Optional(Type.Array(OrganizationChoice)),
    }),
  },
)

export const disconnect = endpoint(
  'DELETE /api/oauth/authorizations/:id',
  { ...session, summary: 'Disconnect an app: revokes its codes and tokens for that identity' },
  { params: Type.Object({ id: Uuid }) },
  { 204: NoContent },
)
