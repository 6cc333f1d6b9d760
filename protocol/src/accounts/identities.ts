import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { IdentityId } from '../ids.ts'
import { pictureBody } from '../pictures.ts'
import { Timestamp, WebUrl } from '../values.ts'

export const Handle = Type.String({ pattern: handlePattern, description: 'The username, without @' })
export const DisplayName = Type.String({ minLength: 1, maxLength: 320, description: '1 to 80 characters' })

export const Identity = Type.Object({
  identityId: IdentityId,
  handle: Handle,
  displayName: Type.String(),
  avatarUrl: Type.Union([Type.String(), Type.Null()]),
  email: Type.Union([Type.String(), Type.Null()]),
  emailVerified: Type.Boolean(),
  createdAt: Timestamp,
})
export type Identity = Static<typeof Identity>

export const NewIdentity = Type.Object({ handle: Handle, displayName: DisplayName })
export type NewIdentity = Static<typeof NewIdentity>

const ByIdentity = Type.Object({ identityId: IdentityId })
const session = { security: 'session', cors: 'first party' } as const

export const listIdentities = endpoint(
  'GET /api/identities',
  { ...session, ssoSession: 'its identity', recoveredSession: true, summary: 'List my identities' },
  {},
  { 200: Type.Object({ identities: Type.Array(Identity) }) },
)

export const createIdentity = endpoint(
  'POST /api/identities',
  { ...session, summary: 'Add an identity' },
  { body: NewIdentity },
  { 201: Identity },
)

export const getIdentity = endpoint(
  'GET /api/identities/:identityId',
  { ...session, ssoSession: 'its identity', recoveredSession: true, summary: 'Get one of my identities' },
  { params: ByIdentity },
  { 200: Identity },
)

export const IdentityChange = Type.Object(
  {
    handle: Type.Optional(Handle),
    displayName: Type.Optional(DisplayName),
    avatarUrl: Type.Optional(Type.Union([WebUrl, Type.Null()])),
  },
  { additionalProperties: false, minProperties: 1 },
)
export type IdentityChange = Static<typeof IdentityChange>

export const updateIdentity = endpoint(
  'PATCH /api/identities/:identityId',
  { ...session, summary: 'Update one of my identities; a former handle stays reserved for 90 days' },
  { params: ByIdentity, body: IdentityChange },
  { 200: Identity },
)

export const setAvatar = endpoint(
  'PUT /api/identities/:identityId/avatar',
  {
    ...session,
    ...pictureBody,
    summary: 'Upload the picture of one of my identities: PNG, JPEG or WebP of at most 2 MiB and 4096 pixels a side',
  },
  { params: ByIdentity },
  { 200: Identity },
)

export const removeAvatar = endpoint(
  'DELETE /api/identities/:identityId/avatar',
  { ...session, summary: 'Remove the picture of one of my identities' },
  { params: ByIdentity },
  { 200: Identity },
)

export const startEmailVerification = endpoint(
  'POST /api/identities/:identityId/email',
  { ...session, summary: 'Send a verification code to an e-mail address; requires recent authentication' },
  { params: ByIdentity, body: Type.Object({ email: Type.String({ minLength: 1, maxLength: 1000 }) }) },
  { 200: Type.Object({ email: Type.String(), expiresAt: Timestamp }) },
)

export const verifyEmail = endpoint(
  'POST /api/identities/:identityId/email/verify',
  { ...session, summary: 'Verify an e-mail address with the code; the identity then has this address' },
  { params: ByIdentity, body: Type.Object({ code: Type.String({ maxLength: 100 }) }) },
  { 200: Identity },
)

export const removeEmail = endpoint(
  'DELETE /api/identities/:identityId/email',
  { ...session, summary: 'Remove the e-mail address of one of my identities; requires recent authentication' },
  { params: ByIdentity },
  { 200: Identity },
)
