import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { ByOrganizationId } from './organizations.ts'
import { OrganizationId } from '../ids.ts'
import { Timestamp, nullable } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'organizations.read' } as const
const managing = { ...reading, permission: 'organizations.manage', recentAuthentication: true } as const

/** Organization in the operator's view: its existence, not the activity of its members. */
export const AdminOrganization = Type.Object({
  organizationId: OrganizationId,
  name: Type.String(),
  slug: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('suspended')]),
  members: Type.Integer(),
  owners: Type.Integer(),
  ssoRequired: Type.Boolean(),
  createdAt: Timestamp,
})
export type AdminOrganization = Static<typeof AdminOrganization>

export const listAdminOrganizations = endpoint(
  'GET /api/admin/organizations',
  { ...reading, summary: 'List the organizations, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(OrganizationId),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
    }),
  },
  { 200: Type.Object({ organizations: Type.Array(AdminOrganization), nextCursor: nullable(OrganizationId) }) },
)

export const getAdminOrganization = endpoint(
  'GET /api/admin/organizations/:organizationId',
  { ...reading, summary: 'Get an organization' },
  { params: ByOrganizationId },
  { 200: Type.Object({ organization: AdminOrganization }) },
)

export const setOrganizationStatus = endpoint(
  'PATCH /api/admin/organizations/:organizationId',
  { ...managing, summary: 'Suspend or reactivate an organization' },
  { params: ByOrganizationId, body: Type.Object({ status: AdminOrganization.properties.status }) },
  { 200: Type.Object({ organization: AdminOrganization }) },
)
