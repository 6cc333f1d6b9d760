import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { IdentityId } from '../ids.ts'
import { Timestamp, Uuid, nullable } from '../values.ts'
import { ActingAs, ByOrganizationId, SignatureOnly, signed } from './organizations.ts'

/** Member of a council, by the identity that was admitted. Each user is in it once. */
export const CouncilSignatory = Type.Object({
  identityId: IdentityId,
  memberId: nullable(Uuid),
  handle: Type.String(),
  displayName: Type.String(),
  maySign: Type.Boolean(),
  mayApprove: Type.Boolean(),
  admittedAt: Timestamp,
  suspendedAt: nullable(Timestamp),
})
export type CouncilSignatory = Static<typeof CouncilSignatory>

/**
 * Council of an organization: while `approvalsNeeded` is above 0, its signatories alone sign and approve, and decide
 * who else does.
 */
export const Council = Type.Object({
  approvalsNeeded: Type.Integer({ description: '0: there is no council' }),
  signatories: Type.Array(CouncilSignatory),
  resetRequestedAt: nullable(Timestamp),
  resetPossibleAt: nullable(Timestamp),
  resetExpiresAt: nullable(Timestamp),
  resetAt: nullable(
    Type.String({ format: 'date-time', description: 'When an owner last ended a council without its consent' }),
  ),
  isSignatory: Type.Boolean({ description: 'Whether the user is one of the signatories, also a suspended one' }),
})
export type Council = Static<typeof Council>

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const One = Type.Object({ council: Council })

export const getCouncil = endpoint(
  'GET /api/organizations/:organizationId/council',
  { ...business, summary: 'Get the council of an organization that I am a member or a signatory of' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: One },
)

export const admitSignatory = endpoint(
  'POST /api/organizations/:organizationId/council/signatories',
  {
    ...business,
    summary: 'Admit or restore a signatory, with the present permissions of this member; requires approvals',
  },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({ identityId: IdentityId, ...signed }),
  },
  { 200: One },
)

export const suspendSignatory = endpoint(
  'DELETE /api/organizations/:organizationId/council/signatories/:identityId',
  { ...business, summary: 'Suspend a signatory; requires the role owner, and a signature' },
  {
    params: Type.Object({ ...ByOrganizationId.properties, identityId: IdentityId }),
    querystring: ActingAs,
    body: SignatureOnly,
  },
  { 200: One },
)

export const requestCouncilReset = endpoint(
  'POST /api/organizations/:organizationId/council/reset',
  {
    ...business,
    summary: 'Request to end the council without approvals, in 14 days; requires the role owner, and a signature',
  },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureOnly },
  { 200: One },
)

export const completeCouncilReset = endpoint(
  'POST /api/organizations/:organizationId/council/reset/completion',
  {
    ...business,
    summary: 'End the council 14 to 28 days after the request; requires the role owner, and a signature',
  },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureOnly },
  { 200: One },
)

export const vetoCouncilReset = endpoint(
  'DELETE /api/organizations/:organizationId/council/reset',
  { ...business, summary: 'End the request for a reset, as any signatory, also a suspended one' },
  { params: ByOrganizationId },
  { 204: NoContent },
)
