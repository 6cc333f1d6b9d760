import { Type, type Static } from 'typebox'
import { ExportedIdentity } from '../accounts/account.ts'
import { GroupKey } from '../accounts/groups.ts'
import { InvitationLanguage, NewAccountInvitation } from '../accounts/invitations.ts'
import { DisplayName, Handle } from '../accounts/identities.ts'
import { Scope } from '../accounts/suspension.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { identityOrders, identityStatuses, peopleSearch } from './people-search.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { IfMatch, Timestamp, Uuid, nullable, uuidPattern } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'people.read' } as const
const following = { ...reading, permission: 'people.activity' } as const
const ByIdentityId = Type.Object({ identityId: IdentityId })

const limit = Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' }))
const ManagedBy = Type.String({
  pattern: `^(self|scim:${uuidPattern.slice(1, -1)})$`,
  description: '`self`, or `scim:` and the ID of a SCIM token',
})
const Day = Type.String({ format: 'date', description: 'Day in UTC: 2026-11-26' })

const entry = {
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  avatarUrl: nullable(Type.String()),
  email: nullable(Type.String()),
  emailVerified: Type.Boolean(),
  status: Type.Enum([...identityStatuses], {
    description: 'What an operator did through this identity: siblings of a suspended account keep their status',
  }),
  statusReason: nullable(Type.String({ description: 'Reason of the suspension, recovery or deletion' })),
  statusAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When an operator did it, or when the user created the passkey of a recovery',
    }),
  ),
  deletionDueAt: nullable(Type.String({ format: 'date-time', description: 'When the identity is to be deleted' })),
  managedBy: Type.String({ description: '`self`, or `scim:` and the ID of the SCIM token of its directory' }),
  createdAt: Timestamp,
  lastSeenOn: nullable(Type.String({ format: 'date', description: 'Day when the identity last authorized an app' })),
  groups: Type.Array(Type.String(), { description: 'Keys of its groups, sorted' }),
  organizations: Type.Array(Type.Object({ id: OrganizationId, name: Type.String(), role: Type.String() })),
}

/** Identity in the operator's view. It never tells which other identities are the same user's. */
export const AdminIdentity = Type.Object(entry)
export type AdminIdentity = Static<typeof AdminIdentity>

/** What suspends an identity: operators, or a directory. None of them ends what another one has decided. */
export const AdminSuspension = Type.Object({
  source: Type.String({
    pattern: `^(operator|scim:${uuidPattern.slice(1, -1)})$`,
    description: '`operator`, or `scim:` and the ID of a SCIM token',
  }),
  scope: Scope,
  reason: Type.String(),
  suspendedAt: Timestamp,
  until: nullable(Timestamp),
})
export type AdminSuspension = Static<typeof AdminSuspension>

/** Identity with facts of its account, which are booleans: equal values would show who is the same user. */
export const AdminIdentityDetails = Type.Object({
  ...entry,
  hasPasskey: Type.Boolean(),
  hasRecoveryCode: Type.Boolean(),
  hasSigningKey: Type.Boolean(),
  suspensions: Type.Array(AdminSuspension, {
    description: 'Suspensions in force through this identity, that of operators first',
  }),
  version: Type.Integer({ description: 'Changes with each change of the identity; `If-Match` of an edit names it' }),
})
export type AdminIdentityDetails = Static<typeof AdminIdentityDetails>

export const listAdminIdentities = endpoint(
  'GET /api/admin/identities',
  { ...reading, summary: 'List and search the identities of the service' },
  {
    querystring: Type.Object({
      q: Type.Optional(
        Type.String({
          maxLength: peopleSearch.charactersMax,
          description:
            'Beginnings of words of the username, e-mail address or name, `@` and a domain, or an identity ID. ' +
            'Up to four words',
        }),
      ),
      emailDomain: Type.Optional(Type.String({ maxLength: 253, description: 'Domain of the e-mail address' })),
      group: Type.Optional(GroupKey),
      organization: Type.Optional(OrganizationId),
      status: Type.Optional(Type.Enum([...identityStatuses])),
      managedBy: Type.Optional(ManagedBy),
      createdFrom: Type.Optional(Timestamp),
      createdTo: Type.Optional(Type.String({ format: 'date-time', description: 'End, excluded' })),
      lastSeenFrom: Type.Optional(Day),
      lastSeenTo: Type.Optional(Type.String({ format: 'date', description: 'Last day, included' })),
      sort: Type.Optional(Type.Enum([...identityOrders])),
      limit,
      cursor: Type.Optional(Type.String({ maxLength: peopleSearch.cursorCharactersMax })),
    }),
  },
  {
    200: Type.Object({
      identities: Type.Array(AdminIdentity),
      nextCursor: nullable(Type.String({ description: 'A short or empty page may have one' })),
      count: Type.Integer({ description: 'Identities found, counted to 10,000' }),
      countIs: Type.Union([Type.Literal('exact'), Type.Literal('at_least')]),
    }),
  },
)

export const getAdminIdentity = endpoint(
  'GET /api/admin/identities/:identityId',
  { ...reading, summary: 'Get an identity' },
  { params: ByIdentityId },
  { 200: Type.Object({ identity: AdminIdentityDetails }) },
)

const inviting = { ...reading, permission: 'people.invite' } as const

/** Invited identity, with its invitation: its link if no address gets it by mail. */
const Invited = Type.Object({ identity: AdminIdentityDetails, ...NewAccountInvitation.properties })

export const createAdminIdentity = endpoint(
  'POST /api/admin/identities',
  { ...inviting, summary: 'Add an invited identity: no account has it until its invitation is accepted' },
  {
    body: Type.Object(
      {
        handle: Handle,
        displayName: DisplayName,
        email: Type.Optional(
          Type.String({ minLength: 1, maxLength: 320, description: 'The invitation is mailed to it, and proves it' }),
        ),
        groups: Type.Optional(
          Type.Array(GroupKey, {
            maxItems: limits.groupsPerInvitationMax,
            uniqueItems: true,
            description: 'Keys of groups that it joins when it is accepted; requires groups.manage too',
          }),
        ),
        language: Type.Optional(InvitationLanguage),
      },
      { additionalProperties: false },
    ),
  },
  { 201: Invited },
)

export const inviteAdminIdentityAgain = endpoint(
  'POST /api/admin/identities/:identityId/invitation',
  { ...inviting, summary: 'Invite an invited identity again: its invitation before ends' },
  {
    params: ByIdentityId,
    body: Type.Object({ language: Type.Optional(InvitationLanguage) }, { additionalProperties: false }),
  },
  { 201: Invited },
)

/** Edit by an operator. The address is not verified; null removes it. */
export const AdminIdentityChange = Type.Object(
  {
    handle: Type.Optional(Handle),
    displayName: Type.Optional(DisplayName),
    email: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 1000 }))),
  },
  { additionalProperties: false, minProperties: 1 },
)
export type AdminIdentityChange = Static<typeof AdminIdentityChange>

export const updateAdminIdentity = endpoint(
  'PATCH /api/admin/identities/:identityId',
  {
    ...reading,
    permission: 'people.edit',
    recentAuthentication: true,
    summary: 'Edit an identity; a new e-mail address is not verified',
  },
  { params: ByIdentityId, headers: IfMatch, body: AdminIdentityChange },
  { 200: Type.Object({ identity: AdminIdentityDetails }) },
)

/** Audit event of one identity, without facts of its account. */
export const AdminActivityEntry = Type.Object({
  entryId: Uuid,
  at: Timestamp,
  action: Type.String(),
  actor: Type.String(),
  clientId: nullable(Type.String()),
  appName: nullable(Type.String()),
  organizationId: nullable(OrganizationId),
  details: Type.Record(Type.String(), Type.Unknown()),
})
export type AdminActivityEntry = Static<typeof AdminActivityEntry>

export const listAdminIdentityActivity = endpoint(
  'GET /api/admin/identities/:identityId/activity',
  { ...following, summary: 'List the activity of an identity, newest first' },
  { params: ByIdentityId, querystring: Type.Object({ cursor: Type.Optional(Uuid), limit }) },
  { 200: Type.Object({ entries: Type.Array(AdminActivityEntry), nextCursor: nullable(Uuid) }) },
)

/** App that an identity has connected. */
export const AdminConnectedApp = Type.Object({
  clientId: Type.String(),
  appName: Type.String(),
  scope: Type.String(),
  createdAt: Timestamp,
  lastAuthorizedAt: Timestamp,
})
export type AdminConnectedApp = Static<typeof AdminConnectedApp>

export const listAdminIdentityApps = endpoint(
  'GET /api/admin/identities/:identityId/apps',
  { ...following, summary: 'List the apps that an identity has connected, most recently used first' },
  { params: ByIdentityId },
  { 200: Type.Object({ apps: Type.Array(AdminConnectedApp) }) },
)

const { picture, groups, directory, unprovedEmail, formerHandles, grants } = ExportedIdentity.properties

/**
 * Data of one identity for the operator. It names what an operator gets: no keys, nothing that the user was asked to
 * sign, and nothing of the account.
 */
export const AdminIdentityExport = Type.Object({
  exportedAt: Timestamp,
  ...entry,
  ...{ picture, groups, directory, unprovedEmail, formerHandles, grants },
  apps: Type.Array(AdminConnectedApp),
  activity: Type.Array(AdminActivityEntry),
})
export type AdminIdentityExport = Static<typeof AdminIdentityExport>

export const exportAdminIdentity = endpoint(
  'GET /api/admin/identities/:identityId/export',
  {
    ...reading,
    permission: 'people.export',
    recentAuthentication: true,
    summary: 'Export the data of an identity, as a file',
  },
  { params: ByIdentityId },
  { 200: AdminIdentityExport },
)
