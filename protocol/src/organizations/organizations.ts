import { type Static, Type } from 'typebox'
import { NoContent, endpoint, optionalBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { slugPattern } from '../formats/domain.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid, WebUrl, nullable } from '../values.ts'

/**
 * Asks for an act: nothing is done, and the error contains what to sign. A signature of version 1 is noted in the audit
 * log, but no organization can require it. The last field of a body, and not part of what is signed.
 */
export const SignedAction = Type.Object(
  {
    signature: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Of version 1. Omit it to start an act' }),
    ),
  },
  { description: 'Over {"version":1,"action":…,"details":{…}}: the parameters of the path, then the rest of the body' },
)
/** Additional body field for actions that an organization may require to be signed. */
export const signed = { signedAction: Type.Optional(SignedAction) }

/** Body of an action that takes nothing but a signature. */
export const SignatureOnly = optionalBody(Type.Object(signed))

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

/** Organization in the view of a member, with their role and permissions. */
export const Organization = Type.Object({
  id: OrganizationId,
  name: Type.String(),
  slug: Type.String(),
  logoUrl: nullable(Type.String()),
  role: OrganizationRole,
  scopes: Type.Array(OrganizationScope),
  signingAuthority: Type.Boolean(),
  ssoRequired: Type.Boolean(),
  encryptionMode: Type.Union([Type.Literal('standard'), Type.Literal('enterprise_managed'), Type.Literal('e2ee')]),
  keyCustody: Type.Union([Type.Literal('svc_standard'), Type.Literal('customer_kms'), Type.Literal('identity_grants')]),
})
export type Organization = Static<typeof Organization>

/** Organization in the view of a user on the business host, who may be a member with several identities. */
export const OwnOrganization = Type.Object({
  ...Organization.properties,
  memberId: Uuid,
  identityId: IdentityId,
  requireSignedActions: Type.Boolean(),
  approvalsNeeded: Type.Integer({ description: 'Number of members who must approve in addition to the signer' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type OwnOrganization = Static<typeof OwnOrganization>

const Name = Type.String({
  minLength: 1,
  maxLength: limits.displayNameCharactersMax * 2,
  description: '1 to 80 characters, shown as entered',
})
export const Slug = Type.String({ pattern: slugPattern, maxLength: limits.slugCharactersMax })

const bearer = { security: 'access token', cors: 'no origin' } as const

export const listOrganizations = endpoint(
  'GET /api/oauth/organizations',
  { ...bearer, summary: 'List the active organizations of the signed-in identity' },
  { querystring: Type.Object({ client_id: Type.Optional(ClientId) }) },
  { 200: Type.Object({ organizations: Type.Array(Organization) }) },
)

export const createWorkspace = endpoint(
  'POST /api/oauth/workspaces',
  { ...bearer, summary: 'Create an organization for the signed-in identity, which has consented to it' },
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

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const ofOrganization = { ...business, ssoSession: 'its organization' } as const

export const ByOrganizationId = Type.Object({ organizationId: OrganizationId })

/** Identity that the user acts as, if several are members; by default the first one that has the permission. */
export const ActingAs = Type.Object({ identity_id: Type.Optional(IdentityId) })

export const listOwnOrganizations = endpoint(
  'GET /api/organizations',
  { ...ofOrganization, summary: 'List the organizations that my identities are members of' },
  {},
  { 200: Type.Object({ organizations: Type.Array(OwnOrganization) }) },
)

export const listAccountOrganizations = endpoint(
  'GET /api/account/organizations',
  {
    security: 'session',
    cors: 'first party',
    summary: 'List the organizations that my identities are members of, for the pages of my account',
  },
  {},
  {
    200: Type.Object({
      organizations: Type.Array(
        Type.Pick(OwnOrganization, ['id', 'name', 'logoUrl', 'role', 'memberId', 'identityId']),
      ),
    }),
  },
)

export const createOrganization = endpoint(
  'POST /api/organizations',
  { ...business, summary: 'Create an organization, owned by one of my identities' },
  { body: Type.Object({ name: Name, identityId: IdentityId }) },
  { 201: Type.Object({ organization: OwnOrganization }) },
)

export const getOrganization = endpoint(
  'GET /api/organizations/:organizationId',
  { ...ofOrganization, summary: 'Get an organization that I am a member of' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ organization: OwnOrganization }) },
)

export const updateOrganization = endpoint(
  'PATCH /api/organizations/:organizationId',
  {
    ...ofOrganization,
    summary: 'Update the name, slug, logo, encryption mode or policies of an organization',
  },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({
      name: Type.Optional(Name),
      slug: Type.Optional(Slug),
      logoUrl: Type.Optional(nullable(WebUrl)),
      logoSha256: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'Required if logoUrl is an uploaded picture: its sha256, so that a signature names its content',
        }),
      ),
      ssoRequired: Type.Optional(Type.Boolean()),
      requireSignedActions: Type.Optional(Type.Boolean()),
      encryptionMode: Type.Optional(Organization.properties.encryptionMode),
      approvalsNeeded: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.approvalsNeededMax })),
      ...signed,
    }),
  },
  { 200: Type.Object({ organization: OwnOrganization }) },
)
export type OrganizationChange = Omit<Static<typeof updateOrganization.schema.body>, 'signedAction'>

export const deleteOrganization = endpoint(
  'DELETE /api/organizations/:organizationId',
  { ...business, summary: 'Delete an organization with all its data; requires the role owner' },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

export const OrganizationMember = Type.Object({
  memberId: Uuid,
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  role: OrganizationRole,
  scopes: Type.Array(OrganizationScope),
  signingAuthority: Type.Boolean(),
  joinedAt: Timestamp,
  avatarUrl: nullable(Type.String()),
  email: Type.Optional(
    nullable(
      Type.String({
        description:
          'For members who may invite: the address to which the member was invited, or a verified one in a domain of ' +
          'the organization',
      }),
    ),
  ),
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
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.memberSearchCharactersMax,
          description: 'Part of a display name, handle, or e-mail address that the caller sees',
        }),
      ),
      role: Type.Optional(OrganizationRole),
    }),
  },
  {
    200: Type.Object({
      members: Type.Array(OrganizationMember),
      nextCursor: Type.Optional(nullable(Uuid)),
      total: Type.Optional(Type.Integer({ description: 'With the first page: the number of members found' })),
    }),
  },
)

const ByMemberId = Type.Object({ organizationId: OrganizationId, memberId: Uuid })

export const getMember = endpoint(
  'GET /api/organizations/:organizationId/members/:memberId',
  { ...ofOrganization, summary: 'Get a member of an organization' },
  { params: ByMemberId, querystring: ActingAs },
  { 200: Type.Object({ member: OrganizationMember }) },
)

export const updateMember = endpoint(
  'PATCH /api/organizations/:organizationId/members/:memberId',
  {
    ...ofOrganization,
    summary: 'Update the role and permissions of a member; by default a role has its own permissions',
  },
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
export type MemberChange = Omit<Static<typeof updateMember.schema.body>, 'signedAction'>

export const removeMember = endpoint(
  'DELETE /api/organizations/:organizationId/members/:memberId',
  { ...ofOrganization, summary: 'Remove a member, or leave: revokes their tokens for the organization' },
  { params: ByMemberId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

const { id, name, logoUrl, role, scopes, signingAuthority, encryptionMode, keyCustody } = Organization.properties

/** Organization for which a user uses an app, with their role: the claim `organization`. */
export const OrganizationContext = Type.Object({
  id,
  name,
  memberId: Uuid,
  role,
  scopes,
  signingAuthority,
  encryptionMode,
  keyCustody,
  authMethod: Type.Union([Type.Literal('passkey'), Type.Literal('enterprise_sso')]),
  /** With `enterprise_sso`: the SSO connection that authenticated the user. */
  ssoConnectionId: Type.Optional(Uuid),
  /** How keys of an organization in mode `e2ee` reach its members. The same in every mode. */
  e2eeKeyDelivery: Type.Literal('svc_identity_grants_only'),
})
export type OrganizationContext = Static<typeof OrganizationContext>

/** Organization that an identity can choose for an app. */
export const OrganizationChoice = Type.Object({
  id,
  name,
  logoUrl,
  known: Type.Boolean({ description: 'Whether the app already acts for it as this identity' }),
  loginUrl: Type.Optional(
    Type.String({ description: 'URL of the SSO sign-in, if the organization requires it first' }),
  ),
  passkeyRequired: Type.Optional(
    Type.Literal(true, {
      description:
        'The user has connected the app with their passkey, and must use it once for the organization too: a session' +
        ' opened by SSO alone cannot sign in to the app',
    }),
  ),
})
export type OrganizationChoice = Static<typeof OrganizationChoice>
