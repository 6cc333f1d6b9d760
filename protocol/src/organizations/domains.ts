import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { ActingAs, ByOrganizationId } from './organizations.ts'
import { SignatureAlone, signed } from './signed-action.ts'
import { Instant, OrNull, Uuid } from '../values.ts'

/** A domain that an organization claims, and what proves that it is theirs. */
export const OrganizationDomain = Type.Object({
  domainId: Uuid,
  domain: Type.String({ description: 'In ASCII and lower case: bücher.example is xn--bcher-kva.example' }),
  status: Type.Union([Type.Literal('pending'), Type.Literal('verified'), Type.Literal('failing')], {
    description: 'failing: still counts as verified, and will be pending seven days after failingSince',
  }),
  challenge: Type.Object(
    { name: Type.String(), value: Type.String() },
    { description: 'The TXT record that proves it' },
  ),
  verifiedAt: OrNull(Instant),
  checkedAt: OrNull(Instant),
  failingSince: OrNull(Instant),
})
export type OrganizationDomain = Static<typeof OrganizationDomain>

const business = { security: 'session', cors: 'our pages', host: 'business' } as const
const ByDomainId = Type.Object({ ...ByOrganizationId.properties, domainId: Uuid })
const One = Type.Object({ domain: OrganizationDomain })

export const listDomains = endpoint(
  'GET /api/organizations/:organizationId/domains',
  { ...business, summary: 'List the domains that an organization claims' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ domains: Type.Array(OrganizationDomain) }) },
)

export const claimDomain = endpoint(
  'POST /api/organizations/:organizationId/domains',
  { ...business, summary: 'Claim a domain, and get the TXT record that proves it' },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({ domain: Type.String({ minLength: 1, maxLength: 300 }), ...signed }),
  },
  { 201: One },
)

export const verifyDomain = endpoint(
  'POST /api/organizations/:organizationId/domains/:domainId/verify',
  { ...business, summary: 'Look whether the TXT record of a domain is there, now' },
  { params: ByDomainId, querystring: ActingAs, body: SignatureAlone },
  { 200: One },
)

export const removeDomain = endpoint(
  'DELETE /api/organizations/:organizationId/domains/:domainId',
  { ...business, summary: 'Give up a domain' },
  { params: ByDomainId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)
