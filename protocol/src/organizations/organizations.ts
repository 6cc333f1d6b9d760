import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { slugPattern } from '../formats/slug.ts'
import { Handle } from '../accounts/identities.ts'
import { SignatureAlone, signed } from './signed-action.ts'
import { ClientId, Instant, OrNull, Uuid, WebUrl } from '../values.ts'

export const OrganizationRole = Type.Union([
  Type.Literal('owner'),
  Type.Literal('admin'),
  Type.Literal('signer'),
  Type.Literal('member'),
  Type.Literal('viewer'),
])

export const OrganizationScope = Type.Union([
  Type.Literal('read'),
  Type.Literal('sign'),
  Type.Literal('approve'),
  Type.Literal('manage_identities'),
  Type.Literal('manage_keys'),
  Type.Literal('manage_sso'),
  Type.Literal('manage_org'),
])

/** An organization as one of its members sees it: what they are there, and may do. */
export const Organization = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  logoUrl: OrNull(Type.String()),
  role: OrganizationRole,
  scopes: Type.Array(OrganizationScope),
  signingAuthority: Type.Boolean(),
  ssoRequired: Type.Boolean(),
  encryptionMode: Type.Union([Type.Literal('standard'), Type.Literal('enterprise_managed'), Type.Literal('e2ee')]),
  keyCustody: Type.Union([Type.Literal('svc_standard'), Type.Literal('customer_kms'), Type.Literal('identity_grants')]),
})
export type Organization = Static<typeof Organization>

/** The same on the business host, where a person may be a member as several of their identities. */
export const OwnOrganization = Type.Object({
  ...Organization.properties,
  memberId: Uuid,
  identityId: Uuid,
  requireSignedActions: Type.Boolean(),
  approvalsNeeded: Type.Integer({ description: 'How many members must approve beside whoever signs' }),
  createdAt: Instant,
  updatedAt: Instant,
})
export type OwnOrganization = Static<typeof OwnOrganization>

const Name = Type.String({
  minLength: 1,
  maxLength: limits.displayNameCharactersMax * 2,
  description: '1 to 80 characters, shown as they are written',
})
const Slug = Type.String({ pattern: slugPattern, maxLength: limits.slugCharactersMax })

const bearer = { security: 'access token', cors: 'no origin' } as const

export const listOrganizations = endpoint(
  'GET /api/oauth/organizations',
  { ...bearer, summary: 'List the active organizations of the identity that signed in' },
  { querystring: Type.Object({ client_id: Type.Optional(ClientId) }) },
  { 200: Type.Object({ organizations: Type.Array(Organization) }) },
)

export const createWorkspace = endpoint(
  'POST /api/oauth/workspaces',
  { ...bearer, summary: 'Create an organization for the identity that signed in, which has agreed to that' },
  {
    body: Type.Object({
      name: Name,
      client_id: Type.Optional(ClientId),
      clientId: Type.Optional(ClientId),
      userConfirmedServiceWorkspaceCreation: Type.Literal(true),
    }),
  },
  { 201: Type.Object({ organization: Organization }) },
)

const business = { security: 'session', cors: 'our pages', host: 'business' } as const
const ofOrganization = { ...business, ssoSession: 'its organization' } as const

export const ByOrganizationId = Type.Object({ organizationId: Uuid })

/** As which of my identities I ask, where several are members; without it the first of them that may. */
export const ActingAs = Type.Object({ identity_id: Type.Optional(Uuid) })

export const listOwnOrganizations = endpoint(
  'GET /api/organizations',
  { ...ofOrganization, summary: 'List the organizations that my identities are members of' },
  {},
  { 200: Type.Object({ organizations: Type.Array(OwnOrganization) }) },
)

export const createOrganization = endpoint(
  'POST /api/organizations',
  { ...business, summary: 'Create an organization, as one of my identities, which owns it' },
  { body: Type.Object({ name: Name, identityId: Uuid }) },
  { 201: Type.Object({ organization: OwnOrganization }) },
)

export const readOrganization = endpoint(
  'GET /api/organizations/:organizationId',
  { ...ofOrganization, summary: 'Read an organization that I am a member of' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ organization: OwnOrganization }) },
)

export const changeOrganization = endpoint(
  'PATCH /api/organizations/:organizationId',
  {
    ...ofOrganization,
    summary: 'Change the name, slug or logo of an organization, its mode of encryption, or what it requires',
  },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({
      name: Type.Optional(Name),
      slug: Type.Optional(Slug),
      logoUrl: Type.Optional(OrNull(WebUrl)),
      ssoRequired: Type.Optional(Type.Boolean()),
      requireSignedActions: Type.Optional(Type.Boolean()),
      encryptionMode: Type.Optional(Organization.properties.encryptionMode),
      approvalsNeeded: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.approvalsNeededMax })),
      ...signed,
    }),
  },
  { 200: Type.Object({ organization: OwnOrganization }) },
)
export type OrganizationChange = Omit<Static<typeof changeOrganization.schema.body>, 'signedAction'>

export const deleteOrganization = endpoint(
  'DELETE /api/organizations/:organizationId',
  { ...business, summary: 'Delete an organization with all that it has; an owner may' },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

export const OrganizationMember = Type.Object({
  memberId: Uuid,
  identityId: Uuid,
  handle: Type.String(),
  displayName: Type.String(),
  role: OrganizationRole,
  scopes: Type.Array(OrganizationScope),
  signingAuthority: Type.Boolean(),
  joinedAt: Instant,
})
export type OrganizationMember = Static<typeof OrganizationMember>

export const listMembers = endpoint(
  'GET /api/organizations/:organizationId/members',
  {
    ...ofOrganization,
    summary: 'List the members of an organization: all of them, or page by page with limit or cursor',
  },
  {
    params: ByOrganizationId,
    querystring: Type.Object({
      ...ActingAs.properties,
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 100 with a cursor' })),
    }),
  },
  {
    200: Type.Object({
      members: Type.Array(OrganizationMember),
      nextCursor: Type.Optional(OrNull(Uuid)),
    }),
  },
)

const ByMemberId = Type.Object({ organizationId: Uuid, memberId: Uuid })

export const readMember = endpoint(
  'GET /api/organizations/:organizationId/members/:memberId',
  { ...ofOrganization, summary: 'Read a member of an organization' },
  { params: ByMemberId, querystring: ActingAs },
  { 200: Type.Object({ member: OrganizationMember }) },
)

export const changeMember = endpoint(
  'PATCH /api/organizations/:organizationId/members/:memberId',
  { ...ofOrganization, summary: 'Change what a member is and may do; a role brings its scopes, where none are given' },
  {
    params: ByMemberId,
    querystring: ActingAs,
    body: Type.Object({
      role: Type.Optional(OrganizationRole),
      scopes: Type.Optional(Type.Array(OrganizationScope, { minItems: 1, uniqueItems: true })),
      signingAuthority: Type.Optional(Type.Boolean()),
      ...signed,
    }),
  },
  { 200: Type.Object({ member: OrganizationMember }) },
)
export type MemberChange = Omit<Static<typeof changeMember.schema.body>, 'signedAction'>

export const removeMember = endpoint(
  'DELETE /api/organizations/:organizationId/members/:memberId',
  { ...ofOrganization, summary: 'Remove a member, or leave: their tokens for the organization end at once' },
  { params: ByMemberId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

/** Somebody who was asked to join: an identity by its handle, or whoever has proved an e-mail address. */
export const Invitation = Type.Object({
  invitationId: Uuid,
  role: OrganizationRole,
  handle: OrNull(Type.String()),
  email: OrNull(Type.String()),
  expiresAt: Instant,
})
export type Invitation = Static<typeof Invitation>

export const invite = endpoint(
  'POST /api/organizations/:organizationId/invitations',
  {
    ...ofOrganization,
    summary: 'Invite an identity by its handle, or whoever proves an e-mail address, for seven days',
  },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({
      handle: Type.Optional(Handle),
      email: Type.Optional(Type.String({ maxLength: limits.emailCharactersMax })),
      role: OrganizationRole,
      ...signed,
    }),
  },
  {
    201: Type.Object({
      invitation: Invitation,
      token: Type.String({ description: 'Shown this once' }),
      url: Type.String({ description: 'Where whoever is invited accepts; shown this once' }),
      /** Whether the address has been written to. */
      mailed: Type.Boolean(),
    }),
  },
)

export const listInvitations = endpoint(
  'GET /api/organizations/:organizationId/invitations',
  { ...ofOrganization, summary: 'List the invitations that wait, without their tokens' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ invitations: Type.Array(Invitation) }) },
)

const ByInvitationId = Type.Object({ organizationId: Uuid, invitationId: Uuid })

export const readInvitation = endpoint(
  'GET /api/organizations/:organizationId/invitations/:invitationId',
  { ...ofOrganization, summary: 'Read an invitation that waits, without its token' },
  { params: ByInvitationId, querystring: ActingAs },
  { 200: Type.Object({ invitation: Invitation }) },
)

export const withdrawInvitation = endpoint(
  'DELETE /api/organizations/:organizationId/invitations/:invitationId',
  { ...ofOrganization, summary: 'Withdraw an invitation' },
  { params: ByInvitationId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

const ByInvitationToken = Type.Object({ token: Type.String({ maxLength: 200 }) })

/** An invitation as whoever holds its token sees it, who is signed in. */
export const OpenInvitation = Type.Object({
  organization: Type.Object({ name: Type.String(), slug: Type.String(), logoUrl: OrNull(Type.String()) }),
  /** The name and handle of who invites. */
  invitedBy: Type.Object({ displayName: Type.String(), handle: Type.String() }),
  role: OrganizationRole,
  expiresAt: Instant,
  /** As which of my identities I may accept. */
  identityIds: Type.Array(Uuid),
})
export type OpenInvitation = Static<typeof OpenInvitation>

export const openInvitation = endpoint(
  'GET /api/invitations/:token',
  { ...business, summary: 'Read what an invitation is to, with its token' },
  { params: ByInvitationToken },
  { 200: Type.Object({ invitation: OpenInvitation }) },
)

export const acceptInvitation = endpoint(
  'POST /api/invitations/:token/accept',
  { ...business, summary: 'Accept an invitation, once, as the identity that is invited or has the address' },
  { params: ByInvitationToken, body: Type.Object({ identityId: Uuid }) },
  { 201: Type.Object({ organization: OwnOrganization }) },
)
