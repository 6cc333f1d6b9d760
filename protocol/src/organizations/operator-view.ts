import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { ByOrganizationId } from './organizations.ts'
import { Instant, OrNull, Uuid } from '../values.ts'

const admin = { security: 'admin', cors: 'no origin' } as const

/** An organization as the operator sees it: that it is there, not what its members do. */
export const AdminOrganization = Type.Object({
  organizationId: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('suspended')]),
  members: Type.Integer(),
  owners: Type.Integer(),
  ssoRequired: Type.Boolean(),
  createdAt: Instant,
})
export type AdminOrganization = Static<typeof AdminOrganization>

export const listAllOrganizations = endpoint(
  'GET /api/admin/organizations',
  { ...admin, summary: 'List the organizations, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(Uuid),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 unless given' })),
    }),
  },
  { 200: Type.Object({ organizations: Type.Array(AdminOrganization), nextCursor: OrNull(Uuid) }) },
)

export const readAnyOrganization = endpoint(
  'GET /api/admin/organizations/:organizationId',
  { ...admin, summary: 'Read an organization' },
  { params: ByOrganizationId },
  { 200: Type.Object({ organization: AdminOrganization }) },
)

export const setOrganizationStatus = endpoint(
  'PATCH /api/admin/organizations/:organizationId',
  { ...admin, summary: 'Suspend an organization: nobody acts in it, and its tokens end; or let it go on' },
  { params: ByOrganizationId, body: Type.Object({ status: AdminOrganization.properties.status }) },
  { 200: Type.Object({ organization: AdminOrganization }) },
)
