import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from './endpoint.ts'
import { limits } from './formats/limits.ts'
import { slugPattern } from './formats/slug.ts'
import { ClientId, Instant, OrNull, Uuid, WebUrl } from './values.ts'

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

const bearer = { security: 'access token', cors: 'any origin' } as const

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

export const ByOrganizationId = Type.Object({ organizationId: Uuid })

/** As which of my identities I ask, where several are members; without it the first of them that may. */
export const ActingAs = Type.Object({ identity_id: Type.Optional(Uuid) })

export const listOwnOrganizations = endpoint(
  'GET /api/organizations',
  { ...business, summary: 'List the organizations that my identities are members of' },
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
  { ...business, summary: 'Read an organization that I am a member of' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ organization: OwnOrganization }) },
)

export const changeOrganization = endpoint(
  'PATCH /api/organizations/:organizationId',
  { ...business, summary: 'Change the name, slug or logo of an organization, or whether its own sign-in is required' },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Partial(Type.Object({ name: Name, slug: Slug, logoUrl: OrNull(WebUrl), ssoRequired: Type.Boolean() })),
  },
  { 200: Type.Object({ organization: OwnOrganization }) },
)
export type OrganizationChange = Static<typeof changeOrganization.schema.body>

export const deleteOrganization = endpoint(
  'DELETE /api/organizations/:organizationId',
  { ...business, summary: 'Delete an organization with all that it has; an owner may' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 204: Nothing },
)
