import { Type, type Static } from 'typebox'
import { Cursor, pageOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ActingAs, ByOrganizationId } from '../organizations/organizations.ts'
import { Timestamp, Uuid, nullable } from '../values.ts'
import { SignatureRole } from './receipts.ts'

/** Signing request to an organization, in the view of its members. */
export const OrganizationDocument = Type.Object({
  requestId: Uuid,
  app: Type.Object({
    clientId: Type.String(),
    name: Type.String({ description: 'At the time of the answer, if there is one' }),
    iconUrl: nullable(Type.String()),
  }),
  title: nullable(
    Type.String({
      description: 'First line of the text, shortened; null for members who may neither sign nor approve',
    }),
  ),
  status: Type.Union([
    Type.Literal('pending'),
    Type.Literal('signed'),
    Type.Literal('denied'),
    Type.Literal('expired'),
  ]),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  resolvedAt: Type.Optional(Timestamp),
  isSigned: Type.Boolean({ description: 'Whether a member has signed; counts only together with the approvals' }),
  approvals: Type.Integer(),
  approvalsNeeded: Type.Integer(),
  answered: nullable(SignatureRole),
  answers: Type.Array(
    Type.Object({
      memberId: Uuid,
      handle: nullable(Type.String({ description: 'At the time of the signature' })),
      displayName: nullable(Type.String({ description: 'Null where the identity was deleted' })),
      role: SignatureRole,
      at: Timestamp,
    }),
    { description: 'Signatures that count, oldest first' },
  ),
})
export type OrganizationDocument = Static<typeof OrganizationDocument>

const State = Type.Union([Type.Literal('waiting'), Type.Literal('signed'), Type.Literal('all')])
const Count = Type.Integer({ description: 'Users with a signing key; each counts once' })

export const listOrganizationDocuments = endpoint(
  'GET /api/organizations/:organizationId/signing-requests',
  {
    security: 'session',
    cors: 'first party',
    host: 'business',
    ssoSession: 'its organization',
    summary: 'List the signing requests to an organization, newest first, without their texts',
  },
  {
    params: ByOrganizationId,
    querystring: Type.Object({
      ...ActingAs.properties,
      ...pageOf(limits.organizationDocumentsPage).properties,
      state: Type.Optional(State),
    }),
  },
  {
    200: Type.Object({
      documents: Type.Array(OrganizationDocument),
      nextCursor: nullable(Cursor),
      waiting: Type.Integer({ description: 'Number of pending requests to the organization, on all pages' }),
      maySign: Type.Boolean({ description: 'Whether I may sign for the organization' }),
      mayApprove: Type.Boolean(),
      signers: Count,
      approvers: Count,
    }),
  },
)
