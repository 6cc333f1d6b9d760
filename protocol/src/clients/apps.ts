import { Type, type Static } from 'typebox'
import { endpoint, Nothing, orNoBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { organizationAccessLevels } from '../formats/organization-access.ts'
import { requirableClaims } from '../formats/required-claims.ts'
import { encryptionScopes, standardScopes } from '../formats/scope.ts'
import { Resource } from './resources.ts'
import { ClientId, Instant, OrNull, Uuid, WebUrl } from '../values.ts'

export const Algorithm = Type.Union([Type.Literal('RS256'), Type.Literal('ES256'), Type.Literal('EdDSA')])
export type Algorithm = Static<typeof Algorithm>

/** What anyone may know of an app. */
export const PublicApp = Type.Object({
  clientId: ClientId,
  name: Type.String(),
  description: OrNull(Type.String()),
  iconUrl: OrNull(Type.String()),
  websiteUrl: OrNull(Type.String()),
  privacyUrl: OrNull(Type.String()),
  termsUrl: OrNull(Type.String()),
  supportsE2ee: Type.Boolean(),
  allowedScopes: Type.Array(Type.String()),
})
export type PublicApp = Static<typeof PublicApp>

export const readApp = endpoint(
  'GET /api/oauth/app/:clientId',
  { security: 'none', cors: 'any origin', summary: 'Public metadata of an app, and the resources that it offers' },
  { params: Type.Object({ clientId: ClientId }) },
  { 200: Type.Object({ app: PublicApp, resources: Type.Array(Resource) }) },
)

/** How far the tokens of an app reach into the organizations of a user. */
export const OrganizationAccess = Type.Enum([...organizationAccessLevels])
export const RequiredClaims = Type.Array(Type.Enum([...requirableClaims]), { uniqueItems: true })

const Seconds = (maximum: number) => Type.Integer({ minimum: 60, maximum })

const settings = {
  name: Type.String({ minLength: 1, maxLength: 80 }),
  redirectUris: Type.Array(WebUrl, { minItems: 1, maxItems: 50, uniqueItems: true }),
  postLogoutRedirectUris: Type.Array(WebUrl, { maxItems: 50, uniqueItems: true }),
  allowedScopes: Type.Array(Type.Enum([...standardScopes, ...encryptionScopes]), { uniqueItems: true }),
  supportsE2ee: Type.Boolean({ description: 'With it the scopes e2ee:* are allowed, listed or not' }),
  description: OrNull(Type.String({ minLength: 1, maxLength: 500 })),
  iconUrl: OrNull(WebUrl),
  websiteUrl: OrNull(WebUrl),
  privacyUrl: OrNull(WebUrl),
  termsUrl: OrNull(WebUrl),
  idTokenSignedResponseAlg: Algorithm,
  accessTokenTtlSeconds: Seconds(limits.accessTokenLifetimeSeconds),
  refreshTokenTtlSeconds: Seconds(limits.refreshTokenLifetimeSeconds),
  requireAuthTime: Type.Boolean({ description: 'ID tokens carry auth_time also where the request has no max_age' }),
  idTokenClaims: Type.Boolean({
    description:
      'ID tokens carry the claims of the scopes profile, email and user_id; the userinfo endpoint always does',
  }),
  requiredClaims: Type.Array(Type.Enum([...requirableClaims]), {
    uniqueItems: true,
    description: 'Users can sign in only with an identity that has these claims',
  }),
  organizationAccess: Type.Enum([...organizationAccessLevels], {
    description: 'What access tokens allow at /api/oauth/organizations (read) and /api/oauth/workspaces (create)',
  }),
  backchannelLogoutUri: OrNull(WebUrl),
  backchannelLogoutSessionRequired: Type.Boolean({
    description: 'The app needs sid in logout tokens. They always carry it, beside sub',
  }),
  allowAnyLoopbackPort: Type.Boolean({
    description: 'A redirect URI at http://127.0.0.1 or http://[::1] stands for every port. For public apps only',
  }),
}
const { name, redirectUris, ...optional } = settings

export const NewApp = Type.Object(
  { name, redirectUris, public: Type.Optional(Type.Boolean()), ...Type.Partial(Type.Object(optional)).properties },
  { additionalProperties: false },
)
export type NewApp = Static<typeof NewApp>

export const AppStatus = Type.Union([Type.Literal('active'), Type.Literal('disabled')])

export const AppChange = Type.Partial(Type.Object({ ...settings, status: AppStatus }), {
  additionalProperties: false,
  minProperties: 1,
})
export type AppChange = Static<typeof AppChange>

/**
 * An app as those see it who look after it: the operator, and the person who registered it, if one did. One that
 * describes itself in a document at its client id has `documentReadAt`, and nobody has registered it.
 */
export const App = Type.Object({
  ...PublicApp.properties,
  redirectUris: Type.Array(Type.String()),
  postLogoutRedirectUris: Type.Array(Type.String()),
  public: Type.Boolean(),
  status: AppStatus,
  ownerUserId: OrNull(Uuid),
  idTokenSignedResponseAlg: Algorithm,
  accessTokenTtlSeconds: Type.Integer(),
  refreshTokenTtlSeconds: Type.Integer(),
  requireAuthTime: Type.Boolean(),
  idTokenClaims: Type.Boolean(),
  requiredClaims: RequiredClaims,
  organizationAccess: OrganizationAccess,
  backchannelLogoutUri: OrNull(Type.String()),
  backchannelLogoutSessionRequired: Type.Boolean(),
  allowAnyLoopbackPort: Type.Boolean(),
  documentReadAt: OrNull(Instant),
  createdAt: Instant,
  updatedAt: Instant,
})
export type App = Static<typeof App>

const ByClientId = Type.Object({ clientId: ClientId })
const graceSeconds = Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })

/** What each operation on apps takes and answers, whoever may ask for it. */
export const operations = {
  create: {
    takes: { body: NewApp },
    answers: { 201: Type.Object({ ...App.properties, clientSecret: Type.Optional(Type.String()) }) },
  },
  show: { takes: { params: ByClientId }, answers: { 200: App } },
  change: { takes: { params: ByClientId, body: AppChange }, answers: { 200: App } },
  delete: { takes: { params: ByClientId }, answers: { 204: Nothing } },
  rotateSecret: {
    takes: {
      params: ByClientId,
      body: orNoBody(Type.Object({ graceSeconds: Type.Optional(graceSeconds) }, { additionalProperties: false })),
    },
    answers: { 201: Type.Object({ clientId: ClientId, clientSecret: Type.String(), previousUntil: Instant }) },
  },
} as const

const admin = { security: 'admin', cors: 'no origin' } as const

export const createApp = endpoint(
  'POST /api/admin/apps',
  { ...admin, summary: 'Register an app; its secret is shown this once' },
  operations.create.takes,
  operations.create.answers,
)

const AppsCursor = Type.String({
  pattern: '^[0-9]{13}-',
  maxLength: limits.clientIdCharactersMax + '0000000000000-'.length,
  description: 'The nextCursor of the page before',
})

export const listApps = endpoint(
  'GET /api/admin/apps',
  { ...admin, summary: 'List the apps, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(AppsCursor),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 100 unless given' })),
    }),
  },
  { 200: Type.Object({ apps: Type.Array(App), nextCursor: OrNull(AppsCursor) }) },
)

export const showApp = endpoint(
  'GET /api/admin/apps/:clientId',
  { ...admin, summary: 'Read an app' },
  operations.show.takes,
  operations.show.answers,
)

export const changeApp = endpoint(
  'PATCH /api/admin/apps/:clientId',
  { ...admin, summary: 'Change an app' },
  operations.change.takes,
  operations.change.answers,
)

export const deleteApp = endpoint(
  'DELETE /api/admin/apps/:clientId',
  { ...admin, summary: 'Delete an app, with every token it holds' },
  operations.delete.takes,
  operations.delete.answers,
)

export const rotateAppSecret = endpoint(
  'POST /api/admin/apps/:clientId/secret',
  { ...admin, summary: 'Give an app a new secret, shown this once; the old one works for graceSeconds more' },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)
