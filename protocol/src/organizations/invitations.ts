import { type Static, Type } from 'typebox'
import { Handle } from '../accounts/identities.ts'
import { NoContent, endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid, nullable } from '../values.ts'
import {
  ActingAs,
  ByOrganizationId,
  OrganizationRole,
  OwnOrganization,
  signed,
  SignatureOnly,
} from './organizations.ts'

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const ofOrganization = { ...business, ssoSession: 'its organization' } as const

/** Member who invites, as invitees see them. */
const Inviter = Type.Object({
  displayName: Type.String(),
  handle: Type.String(),
  avatarUrl: nullable(Type.String()),
})

/** Invitation to join an organization: for an identity by its handle, or for an e-mail address. */
export const Invitation = Type.Object({
  invitationId: Uuid,
  role: OrganizationRole,
  handle: nullable(Type.String()),
  email: nullable(Type.String()),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  invitedBy: nullable(Inviter),
  mailedAt: nullable(Timestamp),
})
export type Invitation = Static<typeof Invitation>

export const createInvitation = endpoint(
  'POST /api/organizations/:organizationId/invitations',
  {
    ...ofOrganization,
    summary: 'Invite an identity by handle, or an e-mail address, for seven days',
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
      token: Type.String({ description: 'Returned only once' }),
      url: Type.String({ description: 'Where the invitation can be accepted; returned only once' }),
      /** True if a mail was sent to the address. */
      mailed: Type.Boolean(),
    }),
  },
)

export const listInvitations = endpoint(
  'GET /api/organizations/:organizationId/invitations',
  { ...ofOrganization, summary: 'List the pending invitations, without their tokens' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ invitations: Type.Array(Invitation) }) },
)

const ByInvitationId = Type.Object({ organizationId: OrganizationId, invitationId: Uuid })

export const getInvitation = endpoint(
  'GET /api/organizations/:organizationId/invitations/:invitationId',
  { ...ofOrganization, summary: 'Get a pending invitation, without its token' },
  { params: ByInvitationId, querystring: ActingAs },
  { 200: Type.Object({ invitation: Invitation }) },
)

export const revokeInvitation = endpoint(
  'DELETE /api/organizations/:organizationId/invitations/:invitationId',
  { ...ofOrganization, summary: 'Revoke an invitation' },
  { params: ByInvitationId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

export const mailInvitation = endpoint(
  'POST /api/organizations/:organizationId/invitations/:invitationId/mail',
  {
    ...ofOrganization,
    summary: 'Mail an invitation again, with another link: the one in the mail before ends',
  },
  { params: ByInvitationId, querystring: ActingAs },
  { 200: Type.Object({ invitation: Invitation }) },
)

const ByInvitationToken = Type.Object({ token: Type.String({ maxLength: 200 }) })

const InvitingOrganization = Type.Object({
  name: Type.String(),
  slug: Type.String(),
  logoUrl: nullable(Type.String()),
})

const provesEmail = Type.Boolean({
  description: 'The token was in the mail to the address: accepting with it can verify the address',
})

/** Invitation in the view of anyone who has its token. */
export const PublicInvitation = Type.Object({
  organization: Type.Object({ id: OrganizationId, ...InvitingOrganization.properties }),
  invitedBy: Inviter,
  role: OrganizationRole,
  expiresAt: Timestamp,
  handle: nullable(Type.String()),
  email: nullable(Type.String()),
  provesEmail,
})
export type PublicInvitation = Static<typeof PublicInvitation>

export const previewInvitation = endpoint(
  'GET /api/invitations/:token/preview',
  { ...business, security: 'none', summary: 'Get an invitation by its token, without a session' },
  { params: ByInvitationToken },
  { 200: Type.Object({ invitation: PublicInvitation }) },
)

/** Invitation in the view of a signed-in user who has its token. */
export const InvitationPreview = Type.Object({
  ...PublicInvitation.properties,
  /** Identities of mine that can accept. */
  identityIds: Type.Array(IdentityId),
})
export type InvitationPreview = Static<typeof InvitationPreview>

export const getInvitationByToken = endpoint(
  'GET /api/invitations/:token',
  { ...business, summary: 'Get an invitation by its token' },
  { params: ByInvitationToken },
  { 200: Type.Object({ invitation: InvitationPreview }) },
)

export const acceptInvitation = endpoint(
  'POST /api/invitations/:token/accept',
  { ...business, summary: 'Accept an invitation once, as the invited identity or one with the address' },
  {
    params: ByInvitationToken,
    body: Type.Object({
      identityId: IdentityId,
      verifyEmail: Type.Optional(
        Type.Boolean({
          description:
            'Also verify the invited address for the identity, instead of its present one; mailed tokens only',
        }),
      ),
    }),
  },
  { 201: Type.Object({ organization: OwnOrganization }) },
)

/** Open invitation in the view of the user whose identities it is for. */
export const OwnInvitation = Type.Object({
  organizationId: OrganizationId,
  invitationId: Uuid,
  organization: InvitingOrganization,
  invitedBy: Inviter,
  role: OrganizationRole,
  email: nullable(Type.String()),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  identityIds: Type.Array(IdentityId),
  canJoin: Type.Boolean({
    description:
      'False if none of the identities has verified the address lately: the link in the mail then accepts it',
  }),
})
export type OwnInvitation = Static<typeof OwnInvitation>

export const listOwnInvitations = endpoint(
  'GET /api/account/invitations',
  { security: 'session', cors: 'first party', summary: 'List the open invitations to my usernames and addresses' },
  {},
  { 200: Type.Object({ invitations: Type.Array(OwnInvitation) }) },
)

const answering = { params: ByInvitationId, body: Type.Object({ identityId: IdentityId }) }

export const joinByInvitation = endpoint(
  'POST /api/organizations/:organizationId/invitations/:invitationId/accept',
  { ...business, summary: 'Accept an open invitation without its token, as the invited identity' },
  answering,
  { 201: Type.Object({ organization: OwnOrganization }) },
)

export const declineInvitation = endpoint(
  'POST /api/organizations/:organizationId/invitations/:invitationId/decline',
  { ...business, summary: 'Decline an open invitation as the invited identity: it ends' },
  answering,
  { 204: NoContent },
)
