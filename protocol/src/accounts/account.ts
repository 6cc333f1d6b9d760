import { Type, type Static } from 'typebox'
import { App } from '../clients/apps.ts'
import { Delegation, DelegationUse } from '../oauth/delegations.ts'
import { endpoint, NoContent } from '../endpoint.ts'
import { AdminToken } from './admin-tokens.ts'
import { Identity } from './identities.ts'
import { FormerCiphertext, SelfRecordEntry, KeyWrap } from './keys.ts'
import { Authorization } from '../oauth/authorizations.ts'
import { OwnInvitation } from '../organizations/invitations.ts'
import { OwnOrganization } from '../organizations/organizations.ts'
import { Passkey } from './passkeys.ts'
import { SessionEntry } from './sessions.ts'
import { ExportedOrganizationSignature, ExportedSigningRequest } from '../signing/signing.ts'
import { ClientId, IdentityId, OrganizationId, UserId } from '../ids.ts'
import { Base64, Ciphertext, nullable, Timestamp, Uuid } from '../values.ts'
import { Webhook } from '../clients/webhooks.ts'

const session = { security: 'session', cors: 'first party' } as const

/** Audit event of an account, in the user's view. `appName` is the name that the app had at that time. */
export const ActivityEntry = Type.Object({
  entryId: Uuid,
  at: Timestamp,
  action: Type.String(),
  actor: Type.String(),
  identityId: Type.Union([IdentityId, Type.Null()]),
  clientId: Type.Union([ClientId, Type.Null()]),
  appName: Type.Union([Type.String(), Type.Null()]),
  organizationId: nullable(OrganizationId),
  address: nullable(Type.String({ description: 'Network of the request by which the user acted' })),
  details: Type.Record(Type.String(), Type.Unknown()),
  device: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'User agent of the browser in which the user acted' }),
  ),
})
export type ActivityEntry = Static<typeof ActivityEntry>

export const ActivityKind = Type.Union([
  Type.Literal('sign_in'),
  Type.Literal('apps'),
  Type.Literal('signing'),
  Type.Literal('security'),
  Type.Literal('identities'),
  Type.Literal('organizations'),
])
export type ActivityKind = Static<typeof ActivityKind>

export const listActivity = endpoint(
  'GET /api/account/activity',
  { ...session, summary: 'List the activity of my account, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
      kind: Type.Optional(ActivityKind),
      identity_id: Type.Optional(IdentityId),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(ActivityEntry), nextCursor: Type.Union([Uuid, Type.Null()]) }) },
)

const KeyPair = { publicKey: Base64, encryptedPrivateKey: Ciphertext, createdAt: Timestamp }

/**
 * Identity with everything that belongs to it. Private keys are ciphertexts that only the user's browser can decrypt.
 */
export const ExportedIdentity = Type.Object({
  ...Identity.properties,
  picture: Type.Union([Type.Object({ mediaType: Type.Literal('image/webp'), base64: Base64 }), Type.Null()], {
    description: 'The uploaded picture, of 512 pixels',
  }),
  groups: Type.Array(Type.Object({ key: Type.String(), displayName: Type.String(), addedAt: Timestamp })),
  appRoles: Type.Array(
    Type.Object({ clientId: ClientId, role: Type.String(), displayName: Type.String(), assignedAt: Timestamp }),
    { description: 'Roles in apps that an operator assigned to this identity' },
  ),
  directory: nullable(
    Type.Object(
      {
        userName: Type.String(),
        externalId: nullable(Type.String()),
        displayName: nullable(Type.String()),
        name: Type.Object({
          formatted: nullable(Type.String()),
          givenName: nullable(Type.String()),
          familyName: nullable(Type.String()),
        }),
        emails: Type.Array(Type.String()),
        createdAt: Timestamp,
        updatedAt: Timestamp,
      },
      { description: 'What the directory of the operator has sent about this identity by SCIM' },
    ),
  ),
  unprovedEmail: Type.Union([Type.String(), Type.Null()]),
  record: Type.Object({
    lastSeenOn: nullable(Type.String({ description: 'Day on which it last authorized an app, in UTC' })),
    emailVerifiedAt: nullable(Timestamp),
    recoveryEmailSince: nullable(
      Type.Unsafe<string>({ ...Timestamp, description: 'Since when the address can receive a recovery link' }),
    ),
    managedBy: nullable(Type.String({ description: 'The directory that alone changes its names: `scim:` and an ID' })),
  }),
  operator: nullable(
    Type.Object(
      {
        role: Type.String(),
        grantedAt: Timestamp,
        tokens: Type.Array(Type.Omit(AdminToken, ['createdBy', 'lastUsedAt', 'lastUsedAddress'])),
      },
      {
        description: 'The role as an operator, and the admin tokens that this identity created, without their secrets',
      },
    ),
  ),
  ssoLinks: Type.Array(
    Type.Object({
      connectionId: Uuid,
      organizationId: OrganizationId,
      subject: Type.String(),
      email: nullable(Type.String({ description: 'The verified address of the latest sign-in' })),
      linkedAt: Timestamp,
    }),
    { description: 'Accounts of organizations by whose SSO this identity signs in' },
  ),
  formerHandles: Type.Array(Type.Object({ handle: Type.String(), keptUntil: Timestamp })),
  signingKeys: Type.Array(
    Type.Object({
      ...{ ...KeyPair, keyVersion: Type.Integer(), endedAt: Type.Union([Timestamp, Type.Null()]) },
      encryptedPrivateKey: Type.Union([Ciphertext, Type.Null()], { description: 'Null for keys replaced earlier' }),
      rotationSignature: Type.Union([Type.String(), Type.Null()], {
        description: 'By the key before, over the message that replaced it; null for a first key',
      }),
    }),
  ),
  encryptionKey: Type.Union([Type.Object(KeyPair), Type.Null()]),
  signingRequests: Type.Array(ExportedSigningRequest),
  organizationSignatures: Type.Array(ExportedOrganizationSignature),
  grants: Type.Array(
    Type.Object({
      clientId: ClientId,
      scope: Type.String(),
      createdAt: Timestamp,
      expiresAt: Timestamp,
      ended: Type.Boolean(),
    }),
  ),
})

export const AccountExport = Type.Object({
  exportedAt: Timestamp,
  user: Type.Object({ userId: UserId, createdAt: Timestamp }),
  identities: Type.Array(ExportedIdentity),
  passkeys: Type.Array(Passkey),
  sessions: Type.Array(SessionEntry),
  keyWraps: Type.Array(KeyWrap),
  recoveryCodeSince: Type.Union([Timestamp, Type.Null()]),
  selfRecord: Type.Union([SelfRecordEntry, Type.Null()]),
  formerCiphertexts: Type.Array(FormerCiphertext, {
    description: 'What a reset of the keys, or of an app key, has replaced, kept for 90 days',
  }),
  authorizations: Type.Array(Authorization),
  delegations: Type.Array(Type.Object({ ...Delegation.properties, uses: Type.Array(DelegationUse) })),
  apps: Type.Array(Type.Object({ ...App.properties, webhook: Type.Union([Webhook, Type.Null()]) })),
  organizations: Type.Array(
    Type.Object({
      ...{ ...OwnOrganization.properties, joinedAt: Timestamp },
      invitedEmail: nullable(Type.String({ description: 'The address to which the invitation was sent' })),
    }),
  ),
  invitations: Type.Array(OwnInvitation, {
    description: 'Open invitations of organizations to usernames and verified addresses',
  }),
  activity: Type.Array(ActivityEntry),
})
export type AccountExport = Static<typeof AccountExport>

export const exportAccount = endpoint(
  'GET /api/account/export',
  { ...session, summary: 'Export the data of my account as a file' },
  {},
  { 200: AccountExport },
)

export const deleteAccount = endpoint(
  'DELETE /api/account',
  {
    ...session,
    summary:
      'Delete my account with everything in it; requires recent authentication. Owners of registered apps ' +
      'must also delete these (apps=delete), or get an error',
  },
  { querystring: Type.Object({ apps: Type.Optional(Type.Literal('delete')) }) },
  { 204: NoContent },
)

export const deleteIdentity = endpoint(
  'DELETE /api/identities/:identityId',
  { ...session, summary: 'Delete one of my identities, but not the last; requires recent authentication' },
  { params: Type.Object({ identityId: IdentityId }) },
  { 204: NoContent },
)
