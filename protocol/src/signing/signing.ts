import { Type, type Static } from 'typebox'
import { Cursor, pageOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { limits } from '../formats/limits.ts'
import { AuthenticationResponse } from '../accounts/passkeys.ts'
import { Approval, ApprovalRole } from './approvals.ts'
import { SigningRequestOrganization, MemberSigningState, OrganizationSignature, SignatureRole } from './receipts.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Base64Url, CredentialId, Timestamp, Uuid } from '../values.ts'
import { PublicKey, UncheckedSignature, Signature } from '../values.ts'

const Status = Type.Union([
  Type.Literal('pending'),
  Type.Literal('signed'),
  Type.Literal('denied'),
  Type.Literal('expired'),
])
export type SigningStatus = Static<typeof Status>

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Any JSON, at most 16 KiB and 8 levels deep; not shown to the user',
})
const ExpiresInSeconds = Type.Number({
  minimum: limits.signingLifetimeSecondsMin,
  maximum: limits.signingLifetimeSecondsMax,
  description: `${limits.signingLifetimeSeconds} where it is absent. A fraction of a second is dropped.`,
})

/** Characters are code points (completions §4.1), which JSON Schema counts too. */
const payloadOf = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, description: 'Text that the user reads and signs, as its UTF-8 bytes' })

export const NewSigningRequest = Type.Object(
  {
    clientId: ClientId,
    clientSecret: Type.String({ minLength: 1 }),
    identityId: Type.Optional(IdentityId),
    organizationId: Type.Optional(OrganizationId),
    payload: payloadOf(limits.signingPayloadCharactersMax),
    metadata: Type.Optional(Metadata),
    expiresInSeconds: Type.Optional(ExpiresInSeconds),
  },
  {
    examples: [
      {
        clientId: 'app_85f93669162989cc207c0996290ce3ce',
        clientSecret: 'YOUR_CLIENT_SECRET',
        identityId: '3f1c9a2b-7d54-4e0a-9b1f-0c2d6e8a4b13',
        payload: 'Pay 120.00 EUR to Paper Shop',
      },
    ],
  },
)
export type NewSigningRequest = Static<typeof NewSigningRequest>

const Opened = Type.Object({ requestId: Uuid, expiresAt: Timestamp, publicKey: PublicKey })

export const createSigningRequest = endpoint(
  'POST /api/signing/request',
  { security: 'client in body', cors: 'no origin', summary: 'Create a signing request' },
  { body: NewSigningRequest },
  { 201: Type.Object({ ...Opened.properties, publicKey: Type.Optional(PublicKey), ...MemberSigningState }) },
)

const ByRequest = Type.Object({ requestId: Uuid })

/** A request in the view of its app. */
export const RequestedSignature = Type.Object({
  requestId: Uuid,
  status: Status,
  publicKey: Type.Optional(PublicKey),
  expiresAt: Timestamp,
  signature: Type.Optional(Signature),
  approval: Type.Optional(Approval),
  resolvedAt: Type.Optional(Timestamp),
  ...MemberSigningState,
  signatures: Type.Optional(
    Type.Array(OrganizationSignature, { description: 'Of a request that an organization has signed' }),
  ),
})

export const getSigningStatus = endpoint(
  'GET /api/signing/request/:requestId/status',
  { security: 'none', cors: 'no origin', summary: 'Get the status of a signing request (long-poll with wait)' },
  {
    params: ByRequest,
    querystring: Type.Object({
      clientId: ClientId,
      wait: Type.Optional(
        Type.String({ pattern: '^([0-9]|[12][0-9]|30)$', description: 'Seconds to wait for an answer, at most 30' }),
      ),
    }),
  },
  {
    200: RequestedSignature,
  },
)

const session = { security: 'session', cors: 'first party' } as const
const ofOrganization = { ...session, ssoSession: 'its organization' } as const

export const SigningRequest = Type.Object({
  requestId: Uuid,
  identityId: IdentityId,
  handle: Type.String(),
  app: Type.Object({
    clientId: Type.String(),
    name: Type.String(),
    iconUrl: Type.Union([Type.String(), Type.Null()]),
    websiteUrl: Type.Union([Type.String(), Type.Null()]),
    origins: Type.Array(Type.String(), { description: "Origins of the app's redirect URIs" }),
  }),
  connected: Type.Boolean({ description: 'Whether the identity has connected the app' }),
  demonstration: Type.Boolean(),
  payload: Type.String(),
  status: Status,
  publicKey: PublicKey,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  resolvedAt: Type.Optional(Timestamp),
  signature: Type.Optional(Type.String()),
  organization: Type.Optional(SigningRequestOrganization),
})
export type SigningRequest = Static<typeof SigningRequest>

/** Approval in the export of an account, with the assertion that proved presence. */
export const ExportedApproval = Type.Object({
  ...Approval.properties,
  evidence: Type.Object(
    {
      credentialId: CredentialId,
      publicKey: Base64Url,
      authenticatorData: Base64Url,
      clientDataJSON: Base64Url,
      signature: Base64Url,
    },
    { description: 'Assertion of the passkey, and its public key as SubjectPublicKeyInfo' },
  ),
})
export type ExportedApproval = Static<typeof ExportedApproval>

/** Signing request in the export of an account. */
export const ExportedSigningRequest = Type.Object({
  clientId: Type.String(),
  ...Type.Omit(SigningRequest, ['identityId', 'handle', 'app', 'connected', 'demonstration', 'organization'])
    .properties,
  signedAs: Type.Union([Type.String(), Type.Null()], { description: 'Handle at the time of signing' }),
  approval: Type.Optional(ExportedApproval),
})

/** Signature for an organization in the export of an account. */
export const ExportedOrganizationSignature = Type.Object({
  organizationId: OrganizationId,
  organizationName: Type.String(),
  requestId: Uuid,
  clientId: Type.String(),
  payload: Type.String(),
  status: Status,
  role: SignatureRole,
  publicKey: PublicKey,
  signature: Signature,
  answeredAt: Timestamp,
  approval: Type.Optional(ExportedApproval),
})

/** Requests with their texts, limited in size per page. */
export const SigningRequests = Type.Array(SigningRequest, {
  description: `As many as asked, or fewer, where they would take more than ${limits.signingPageBytesMax} bytes`,
})

export const listSigningHistory = endpoint(
  'GET /api/signing/history',
  { ...session, summary: 'List my signing history, including requests signed by organizations with me, newest first' },
  { querystring: pageOf(limits.signingHistoryPage) },
  { 200: Type.Object({ requests: SigningRequests, nextCursor: Type.Union([Cursor, Type.Null()]) }) },
)

export const getSigningRequest = endpoint(
  'GET /api/signing/requests/:requestId',
  {
    ...ofOrganization,
    summary: 'Get a request to one of my identities, or to an organization that I may sign or approve for',
  },
  { params: ByRequest },
  { 200: SigningRequest },
)

const Given = Type.Object({
  requestId: Uuid,
  status: Type.Union([Type.Literal('signed'), Type.Literal('pending')]),
  signature: Signature,
  publicKey: PublicKey,
  resolvedAt: Type.Optional(Timestamp),
  ...MemberSigningState,
})

const Role = Type.Object({ role: ApprovalRole })

export const startApproval = endpoint(
  'POST /api/signing/requests/:requestId/approval',
  {
    ...session,
    summary: 'Start an approval: what I am to approve, and the challenge for my passkey. It can be given once, in time',
  },
  { params: ByRequest, body: Role },
  {
    200: Type.Object({
      flowId: Uuid,
      challenge: Type.String({ description: '32 random bytes, base64url' }),
      challengedAt: Timestamp,
      statement: Type.String({ description: 'Canonical JSON; compare it with the statement of what is displayed' }),
    }),
  },
)

const Answer = Type.Object({
  signature: UncheckedSignature,
  approval: Type.Optional(
    Type.Object({ flowId: Uuid, signature: UncheckedSignature, credential: AuthenticationResponse }),
  ),
})
/** Signature over the statement of a started approval, and the assertion for it. */
export type GivenApproval = NonNullable<Static<typeof Answer>['approval']>

export const signRequest = endpoint(
  'POST /api/signing/requests/:requestId/sign',
  { ...session, summary: 'Sign a request; one to an organization stays pending until enough members have approved' },
  { params: ByRequest, body: Answer },
  { 200: Given },
)

export const approveRequest = endpoint(
  'POST /api/signing/requests/:requestId/approve',
  { ...session, summary: 'Approve a request to an organization by signing the same text' },
  { params: ByRequest, body: Answer },
  { 200: Given },
)

export const denyRequest = endpoint(
  'POST /api/signing/requests/:requestId/deny',
  { ...ofOrganization, summary: 'Deny a request' },
  { params: ByRequest },
  { 200: Type.Object({ requestId: Uuid, status: Type.Literal('denied'), resolvedAt: Timestamp }) },
)

export const NewDemoRequest = Type.Object({
  identityId: Type.Optional(IdentityId),
  handle: Type.Optional(Type.String({ pattern: handlePattern })),
  payload: payloadOf(limits.signingDemoPayloadCharactersMax),
  metadata: Type.Optional(Metadata),
  expiresInSeconds: Type.Optional(ExpiresInSeconds),
})
export type NewDemoRequest = Static<typeof NewDemoRequest>

export const createDemoSigningRequest = endpoint(
  'POST /api/signing/demo/request',
  { security: 'none', cors: 'first party', summary: 'Send a demonstration signing request; only if DEMO is on' },
  { body: NewDemoRequest },
  { 201: Opened },
)
