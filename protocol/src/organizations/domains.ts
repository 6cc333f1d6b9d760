import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { ActingAs, ByOrganizationId, SignatureOnly, signed } from './organizations.ts'
import { Timestamp, Uuid, nullable } from '../values.ts'

/** Domain that an organization claims, with the record that proves control. */
export const OrganizationDomain = Type.Object({
  domainId: Uuid,
  domain: Type.String({ description: 'In ASCII and lower case: bücher.example is xn--bcher-kva.example' }),
  status: Type.Union([Type.Literal('pending'), Type.Literal('verified'), Type.Literal('failing')], {
    description: 'failing: still counts as verified, and becomes pending seven days after failingSince',
  }),
  challenge: Type.Object(
    { name: Type.String(), value: Type.String() },
    { description: 'The TXT record that verifies the domain' },
  ),
  verifiedAt: nullable(Timestamp),
  checkedAt: nullable(Timestamp),
  failingSince: nullable(Timestamp),
})
export type OrganizationDomain = Static<typeof OrganizationDomain>

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const ByDomainId = Type.Object({ ...ByOrganizationId.properties, domainId: Uuid })
const One = Type.Object({ domain: OrganizationDomain })

export const listDomains = endpoint(
  'GET /api/organizations/:organizationId/domains',
  { ...business, summary: 'List the domains of an organization' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ domains: Type.Array(OrganizationDomain) }) },
)

export const addDomain = endpoint(
  'POST /api/organizations/:organizationId/domains',
  { ...business, summary: 'Add a domain, and get the TXT record that verifies it' },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({ domain: Type.String({ minLength: 1, maxLength: 300 }), ...signed }),
  },
  { 201: One },
)

export const verifyDomain = endpoint(
  'POST /api/organizations/:organizationId/domains/:domainId/verify',
  { ...business, summary: 'Check the TXT record of a domain now' },
  { params: ByDomainId, querystring: ActingAs, body: SignatureOnly },
  { 200: One },
)

export const removeDomain = endpoint(
  'DELETE /api/organizations/:organizationId/domains/:domainId',
  { ...business, summary: 'Remove a domain' },
  { params: ByDomainId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)
