import { Type, type Static } from 'typebox'
import { App } from '../clients/apps.ts'
import { Delegation, DelegationUse } from '../oauth/delegations.ts'
import { endpoint, Nothing } from '../endpoint.ts'
import { Identity } from './identities.ts'
import { KeyWrap } from './keys.ts'
import { Authorization } from '../oauth/authorizations.ts'
import { OwnOrganization } from '../organizations/organizations.ts'
import { Passkey } from './passkeys.ts'
import { SessionEntry } from './sessions.ts'
import { ExportedOrganizationSignature, ExportedSigningRequest } from '../signing/signing.ts'
import { Base64, Ciphertext, ClientId, Instant, Uuid } from '../values.ts'
import { Webhook } from '../clients/webhooks.ts'

const session = { security: 'session', cors: 'our pages' } as const

/** One act in the trail of a person, as they may read it. */
export const ActivityEntry = Type.Object({
  entryId: Uuid,
  at: Instant,
  action: Type.String(),
  actor: Type.String(),
  identityId: Type.Union([Uuid, Type.Null()]),
  clientId: Type.Union([ClientId, Type.Null()]),
  appName: Type.Union([Type.String(), Type.Null()]),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type ActivityEntry = Static<typeof ActivityEntry>

export const readActivity = endpoint(
  'GET /api/account/activity',
  { ...session, summary: 'What was done in my account, the newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 unless given' })),
    }),
  },
  { 200: Type.Object({ entries: Type.Array(ActivityEntry), nextCursor: Type.Union([Uuid, Type.Null()]) }) },
)

const KeyPair = { publicKey: Base64, encryptedPrivateKey: Ciphertext, createdAt: Instant }

/** An identity with what belongs to it. Private keys are the ciphertexts that only the person's browser opens. */
const ExportedIdentity = Type.Object({
  ...Identity.properties,
  unprovedEmail: Type.Union([Type.String(), Type.Null()]),
  formerHandles: Type.Array(Type.Object({ handle: Type.String(), keptUntil: Instant })),
  signingKeys: Type.Array(
    Type.Object({
      ...{ ...KeyPair, keyVersion: Type.Integer(), endedAt: Type.Union([Instant, Type.Null()]) },
      encryptedPrivateKey: Type.Union([Ciphertext, Type.Null()], { description: 'Null for keys replaced earlier' }),
    }),
  ),
  encryptionKey: Type.Union([Type.Object(KeyPair), Type.Null()]),
  signingRequests: Type.Array(ExportedSigningRequest),
  organizationSignatures: Type.Array(ExportedOrganizationSignature),
  grants: Type.Array(
    Type.Object({
      clientId: ClientId,
      scope: Type.String(),
      createdAt: Instant,
      endsAt: Instant,
      ended: Type.Boolean(),
    }),
  ),
})

export const AccountExport = Type.Object({
  exportedAt: Instant,
  user: Type.Object({ userId: Uuid, createdAt: Instant }),
  identities: Type.Array(ExportedIdentity),
  passkeys: Type.Array(Passkey),
  sessions: Type.Array(SessionEntry),
  keyWraps: Type.Array(KeyWrap),
  recoveryCodeSince: Type.Union([Instant, Type.Null()]),
  authorizations: Type.Array(Authorization),
  delegations: Type.Array(Type.Object({ ...Delegation.properties, uses: Type.Array(DelegationUse) })),
  apps: Type.Array(Type.Object({ ...App.properties, webhook: Type.Union([Webhook, Type.Null()]) })),
  organizations: Type.Array(Type.Object({ ...OwnOrganization.properties, joinedAt: Instant })),
  activity: Type.Array(ActivityEntry),
})
export type AccountExport = Static<typeof AccountExport>

export const exportAccount = endpoint(
  'GET /api/account/export',
  { ...session, summary: 'Everything that the service holds about me, as a file' },
  {},
  { 200: AccountExport },
)

export const deleteAccount = endpoint(
  'DELETE /api/account',
  {
    ...session,
    summary:
      'Delete my account with all that is in it; needs a fresh authentication. Whoever has registered apps says ' +
      'that they are to go too (apps=delete), or is refused',
  },
  { querystring: Type.Object({ apps: Type.Optional(Type.Literal('delete')) }) },
  { 204: Nothing },
)

export const deleteIdentity = endpoint(
  'DELETE /api/identities/:identityId',
  { ...session, summary: 'Delete one of my identities, but not the last; needs a fresh authentication' },
  { params: Type.Object({ identityId: Uuid }) },
  { 204: Nothing },
)
