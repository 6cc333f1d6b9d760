import { Type, type Static } from 'typebox'
import { Cursor, pageOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { handlePattern } from '../formats/handle.ts'
import { limits } from '../formats/limits.ts'
import { AskedOrganization, InOrganization, OrganizationSignature, SignatureRole } from './organization-signing.ts'
import { AnyText, Ciphertext, ClientId, Instant, Uuid } from '../values.ts'
import { PublicKey, SentKey, SentSignature, Signature } from '../values.ts'

const NullableInstant = Type.Union([Instant, Type.Null()])

const Status = Type.Union([
  Type.Literal('pending'),
  Type.Literal('signed'),
  Type.Literal('denied'),
  Type.Literal('expired'),
])
export type SigningStatus = Static<typeof Status>

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Any JSON, at most 16 KiB and 8 levels deep; the person does not see it',
})
const ExpiresInSeconds = Type.Integer({
  minimum: limits.signingLifetimeSecondsMin,
  maximum: limits.signingLifetimeSecondsMax,
  description: `${limits.signingLifetimeSeconds} where it is absent`,
})

/** Characters are code points (completions §4.1): JSON Schema counts them so, too. */
const payloadOf = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, description: 'What the person reads and signs, as its UTF-8 bytes' })

export const NewSigningRequest = Type.Object({
  clientId: ClientId,
  clientSecret: Type.String({ minLength: 1 }),
  identityId: Type.Optional(Uuid),
  organizationId: Type.Optional(Uuid),
  payload: payloadOf(limits.signingPayloadCharactersMax),
  metadata: Type.Optional(Metadata),
  expiresInSeconds: Type.Optional(ExpiresInSeconds),
})
export type NewSigningRequest = Static<typeof NewSigningRequest>

const Opened = Type.Object({ requestId: Uuid, expiresAt: Instant, publicKey: PublicKey })

export const openSigningRequest = endpoint(
  'POST /api/signing/request',
  { security: 'client', cors: 'no origin', summary: 'Ask an identity, or an organization, to sign a text' },
  { body: NewSigningRequest },
  { 201: Type.Object({ ...Opened.properties, publicKey: Type.Optional(PublicKey), ...InOrganization }) },
)

const ByRequest = Type.Object({ requestId: Uuid })

export const readSigningStatus = endpoint(
  'GET /api/signing/request/:requestId/status',
  { security: 'none', cors: 'no origin', summary: 'What became of a request; with wait, once it was answered' },
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
    200: Type.Object({
      requestId: Uuid,
      status: Status,
      publicKey: Type.Optional(PublicKey),
      expiresAt: Instant,
      signature: Type.Optional(Signature),
      resolvedAt: Type.Optional(Instant),
      ...InOrganization,
      signatures: Type.Optional(
        Type.Array(OrganizationSignature, { description: 'Of an organization that has signed' }),
      ),
    }),
  },
)

export const readPublicKey = endpoint(
  'GET /api/signing/public-key/:handle',
  { security: 'none', cors: 'any origin', summary: 'The signing key of an identity, now or at an instant' },
  {
    params: Type.Object({ handle: Type.String({ pattern: handlePattern }) }),
    querystring: Type.Object({ at: Type.Optional(Instant) }),
  },
  {
    200: Type.Object({
      handle: Type.String(),
      publicKey: PublicKey,
      createdAt: Instant,
      endedAt: NullableInstant,
      keyVersion: Type.Integer(),
    }),
  },
)

export const verifySignature = endpoint(
  'POST /api/signing/verify',
  { security: 'none', cors: 'any origin', summary: 'Whether a signature is valid for a message and a key' },
  { body: Type.Object({ message: AnyText, signature: AnyText, publicKey: AnyText }) },
  {
    200: Type.Object({
      valid: Type.Boolean(),
      error: Type.Optional(
        Type.Union([
          Type.Literal('invalid_signature'),
          Type.Literal('malformed_signature'),
          Type.Literal('malformed_public_key'),
        ]),
      ),
    }),
  },
)

const ByIdentity = Type.Object({ identityId: Uuid })
const session = { security: 'session', cors: 'our pages' } as const
const ofOrganization = { ...session, ssoSession: 'its organization' } as const

export const SigningKey = Type.Object({
  identityId: Uuid,
  handle: Type.String(),
  hasKey: Type.Literal(true),
  publicKey: PublicKey,
  encryptedPrivateKey: Ciphertext,
  createdAt: Instant,
  rotatedAt: NullableInstant,
  keyVersion: Type.Integer(),
  former: Type.Array(
    Type.Object({ keyVersion: Type.Integer(), publicKey: PublicKey, createdAt: Instant, endedAt: Instant }),
    { description: 'The keys before, the latest first' },
  ),
})
export type SigningKey = Static<typeof SigningKey>

const NoKey = Type.Object({ identityId: Uuid, handle: Type.String(), hasKey: Type.Literal(false) })

export const listSigningKeys = endpoint(
  'GET /api/signing/keys',
  { ...session, summary: 'The signing keys of my identities' },
  {},
  { 200: Type.Object({ keys: Type.Array(SigningKey) }) },
)

export const readSigningKey = endpoint(
  'GET /api/signing/keys/:identityId',
  { ...session, summary: 'The signing key of one of my identities' },
  { params: ByIdentity },
  { 200: Type.Union([SigningKey, NoKey]) },
)

export const createSigningKey = endpoint(
  'POST /api/signing/keys/:identityId',
  { ...session, summary: 'Give one of my identities its first signing key' },
  { params: ByIdentity, body: Type.Object({ publicKey: SentKey, encryptedPrivateKey: Ciphertext }) },
  { 201: SigningKey },
)

const Rotation = Type.Object({
  publicKey: SentKey,
  encryptedPrivateKey: Ciphertext,
  rotationSignature: SentSignature,
})
export type Rotation = Static<typeof Rotation>

export const rotateSigningKey = endpoint(
  'PUT /api/signing/keys/:identityId',
  { ...session, summary: 'Replace a signing key by one that it has signed' },
  { params: ByIdentity, body: Rotation },
  { 200: SigningKey },
)

export const SigningRequest = Type.Object({
  requestId: Uuid,
  identityId: Uuid,
  handle: Type.String(),
  app: Type.Object({
    clientId: Type.String(),
    name: Type.String(),
    iconUrl: Type.Union([Type.String(), Type.Null()]),
    websiteUrl: Type.Union([Type.String(), Type.Null()]),
    origins: Type.Array(Type.String(), { description: 'Where the app is registered to live' }),
  }),
  connected: Type.Boolean({ description: 'Whether the identity has connected the app' }),
  demonstration: Type.Boolean(),
  payload: Type.String(),
  status: Status,
  publicKey: PublicKey,
  createdAt: Instant,
  expiresAt: Instant,
  resolvedAt: Type.Optional(Instant),
  signature: Type.Optional(Type.String()),
  organization: Type.Optional(AskedOrganization),
})
export type SigningRequest = Static<typeof SigningRequest>

/** A request in the export of an account. */
export const ExportedSigningRequest = Type.Object({
  clientId: Type.String(),
  ...Type.Omit(SigningRequest, ['identityId', 'handle', 'app', 'connected', 'demonstration', 'organization'])
    .properties,
  signedAs: Type.Union([Type.String(), Type.Null()], { description: 'The handle under which it was signed' }),
})

/** What an identity signed for an organization, in the export of an account. */
export const ExportedOrganizationSignature = Type.Object({
  organizationId: Uuid,
  organizationName: Type.String(),
  requestId: Uuid,
  clientId: Type.String(),
  payload: Type.String(),
  status: Status,
  role: SignatureRole,
  publicKey: PublicKey,
  signature: Signature,
  answeredAt: Instant,
})

/** Requests with their texts, of which a page has only so much. */
export const SigningRequests = Type.Array(SigningRequest, {
  description: `As many as asked, or fewer, where they would take more than ${limits.signingPageBytesMax} bytes`,
})

export const readSigningHistory = endpoint(
  'GET /api/signing/history',
  { ...session, summary: 'What I signed, denied or let expire, and what organizations signed by me, the newest first' },
  { querystring: pageOf(limits.signingHistoryPage) },
  { 200: Type.Object({ requests: SigningRequests, nextCursor: Type.Union([Cursor, Type.Null()]) }) },
)

export const readSigningRequest = endpoint(
  'GET /api/signing/requests/:requestId',
  { ...ofOrganization, summary: 'A request for one of my identities, or for an organization that I answer for' },
  { params: ByRequest },
  { 200: SigningRequest },
)

const Given = Type.Object({
  requestId: Uuid,
  status: Type.Union([Type.Literal('signed'), Type.Literal('pending')]),
  signature: Signature,
  publicKey: PublicKey,
  resolvedAt: Type.Optional(Instant),
  ...InOrganization,
})

export const signRequest = endpoint(
  'POST /api/signing/requests/:requestId/sign',
  { ...session, summary: 'Sign a request; one to an organization waits on until enough members have approved' },
  { params: ByRequest, body: Type.Object({ signature: SentSignature }) },
  { 200: Given },
)

export const approveRequest = endpoint(
  'POST /api/signing/requests/:requestId/approve',
  { ...session, summary: 'Approve what an organization is asked to sign, by signing the same text' },
  { params: ByRequest, body: Type.Object({ signature: SentSignature }) },
  { 200: Given },
)

export const denyRequest = endpoint(
  'POST /api/signing/requests/:requestId/deny',
  { ...ofOrganization, summary: 'Deny a request' },
  { params: ByRequest },
  { 200: Type.Object({ requestId: Uuid, status: Type.Literal('denied'), resolvedAt: Instant }) },
)

export const NewDemoRequest = Type.Object({
  identityId: Type.Optional(Uuid),
  handle: Type.Optional(Type.String({ pattern: handlePattern })),
  payload: payloadOf(limits.signingDemoPayloadCharactersMax),
  metadata: Type.Optional(Metadata),
  expiresInSeconds: Type.Optional(ExpiresInSeconds),
})
export type NewDemoRequest = Static<typeof NewDemoRequest>

export const openDemoRequest = endpoint(
  'POST /api/signing/demo/request',
  { security: 'none', cors: 'our pages', summary: 'Ask an identity to sign a demonstration; only while DEMO is on' },
  { body: NewDemoRequest },
  { 201: Opened },
)
