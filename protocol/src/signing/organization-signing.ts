import { Type, type Static } from 'typebox'
import { Instant, PublicKey, Signature, Uuid } from '../values.ts'

/** What a member does with their signature: sign as the organization, or approve what it signs. */
export const SignatureRole = Type.Union([Type.Literal('sign'), Type.Literal('approve')])

/** How far an organization is: it has signed when a member has, and as many others have approved as it takes. */
const Progress = Type.Object({
  id: Uuid,
  name: Type.String(),
  isSigned: Type.Boolean({ description: 'Whether a member has signed; it counts with the approvals alone' }),
  approvals: Type.Integer(),
  approvalsNeeded: Type.Integer(),
})
export type SigningProgress = Static<typeof Progress>
export const InOrganization = { organization: Type.Optional(Progress) }

/** What a member signed of a request to an organization that is signed. */
export const OrganizationSignature = Type.Object({
  identityId: Uuid,
  memberId: Uuid,
  role: SignatureRole,
  publicKey: PublicKey,
  signature: Signature,
  at: Instant,
})
export type OrganizationSignature = Static<typeof OrganizationSignature>

/** A request to an organization, as one of its members sees it: what they may do, and who has done what. */
export const AskedOrganization = Type.Object({
  ...Progress.properties,
  memberId: Uuid,
  maySign: Type.Boolean(),
  mayApprove: Type.Boolean(),
  answered: Type.Union([Type.Literal('sign'), Type.Literal('approve'), Type.Null()], {
    description: 'What I have done already, as far as it counts',
  }),
  answers: Type.Array(
    Type.Object({
      memberId: Uuid,
      handle: Type.Union([Type.String(), Type.Null()]),
      role: SignatureRole,
      at: Instant,
    }),
    { description: 'What counts so far, the first first' },
  ),
})
