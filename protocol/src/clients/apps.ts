import { Type, type Static } from 'typebox'
import { endpoint, NoContent, optionalBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { organizationAccessLevels } from '../formats/organization-access.ts'
import { algorithms } from '../formats/registries/algorithms.ts'
import { requirableClaims } from '../formats/required-claims.ts'
import { encryptionScopes, standardScopes } from '../formats/scope.ts'
import { Resource } from './resources.ts'
import { GroupKey } from '../accounts/groups.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { Slug } from '../organizations/organizations.ts'
import { pictureBody } from '../pictures.ts'
import { OptionalIfMatchDigest, Timestamp, nullable, WebUrl } from '../values.ts'

export const Algorithm = Type.Enum([...algorithms], { type: 'string' })

/** Public metadata of an app. */
export const PublicApp = Type.Object({
  clientId: ClientId,
  name: Type.String(),
  description: nullable(Type.String()),
  iconUrl: nullable(Type.String()),
  color: nullable(Type.String({ description: 'Color of the app, #rrggbb, which pages show as an ornament' })),
  websiteUrl: nullable(Type.String()),
  privacyUrl: nullable(Type.String()),
  termsUrl: nullable(Type.String()),
  supportsE2ee: Type.Boolean(),
  appKeyRecipientJwk: nullable(Type.String()),
  allowedScopes: Type.Array(Type.String()),
})
export type PublicApp = Static<typeof PublicApp>

export const getApp = endpoint(
  'GET /api/oauth/app/:clientId',
  { security: 'none', cors: 'any origin', summary: 'Get the public metadata of an app and of its resources' },
  { params: Type.Object({ clientId: ClientId }) },
  { 200: Type.Object({ app: PublicApp, resources: Type.Array(Resource) }) },
)

/** Access of an app's tokens to the organizations of a user. */
export const OrganizationAccess = Type.Enum([...organizationAccessLevels])
export const RequiredClaims = Type.Array(Type.Enum([...requirableClaims]), { uniqueItems: true })

/** Who may use an app: everyone, the members of its groups and organizations, or no one. */
const AccessMode = Type.Enum(['everyone', 'restricted', 'none'])

/** Which groups of a user the claim `groups` contains: those that the app's access names, or all. */
const GroupsInclude = Type.Enum(['assigned', 'all'])

const byOperator = 'Only the operator sets it'

/** Settings that only the operator changes. Those of their members that are not sent stay. */
const operatorSettings = {
  access: Type.Object(
    {
      mode: Type.Optional(AccessMode),
      groups: Type.Optional(
        Type.Array(GroupKey, { maxItems: limits.groupsPerAppMax, uniqueItems: true, description: 'Keys of groups' }),
      ),
      organizations: Type.Optional(
        Type.Array(Slug, {
          maxItems: limits.organizationsPerAppMax,
          uniqueItems: true,
          description: 'Slugs of organizations, whose members may use the app',
        }),
      ),
      contact: Type.Optional(
        nullable(
          Type.String({
            minLength: 1,
            maxLength: limits.accessContactCharactersMax,
            description: 'Shown to users without access',
          }),
        ),
      ),
    },
    { additionalProperties: false, minProperties: 1, description: `Who may use the app. ${byOperator}` },
  ),
  groupsClaim: Type.Object(
    { include: GroupsInclude },
    { additionalProperties: false, description: `The groups that the scope groups gives. ${byOperator}` },
  ),
}

/** Who may use an app, with the keys of the groups and the slugs of the organizations that it names. */
export const AppAccess = Type.Object({
  mode: AccessMode,
  groups: Type.Array(Type.String()),
  organizations: Type.Array(Type.String()),
  contact: nullable(Type.String()),
})

const Seconds = (maximum: number) => Type.Integer({ minimum: 60, maximum })

/** Settings of an app that a request can send. */
export const settings = {
  name: Type.String({ minLength: 1, maxLength: 80 }),
  redirectUris: Type.Array(WebUrl, { minItems: 1, maxItems: limits.redirectUrisMax, uniqueItems: true }),
  postLogoutRedirectUris: Type.Array(WebUrl, { maxItems: 50, uniqueItems: true }),
  allowedScopes: Type.Array(Type.Enum([...standardScopes, ...encryptionScopes]), { uniqueItems: true }),
  supportsE2ee: Type.Boolean({ description: 'If true, the scopes e2ee:* are allowed even if they are not listed' }),
  appKeyRecipientJwk: nullable(
    Type.String({
      maxLength: 1024,
      description:
        "Public key of the app's server (X25519 or P-256) as base64url of a JWK. FedCM delivers app keys only to it",
    }),
  ),
  description: nullable(Type.String({ minLength: 1, maxLength: 500 })),
  iconUrl: nullable(WebUrl),
  color: nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      description: 'Color of the app, #rrggbb: an ornament of its consent page',
    }),
  ),
  websiteUrl: nullable(WebUrl),
  privacyUrl: nullable(WebUrl),
  termsUrl: nullable(WebUrl),
  idTokenSignedResponseAlg: Algorithm,
  accessTokenTtlSeconds: Seconds(limits.accessTokenLifetimeSeconds),
  refreshTokenTtlSeconds: Seconds(limits.refreshTokenLifetimeSeconds),
  requireAuthTime: Type.Boolean({ description: 'ID tokens contain auth_time even if the request has no max_age' }),
  idTokenClaims: Type.Boolean({
    description:
      'ID tokens contain the claims of the scopes profile, email, user_id, groups and roles; the userinfo ' +
      'endpoint always does',
  }),
  requiredClaims: Type.Array(Type.Enum([...requirableClaims]), {
    uniqueItems: true,
    description: 'Users can sign in only with an identity that has these claims',
  }),
  organizationAccess: Type.Enum([...organizationAccessLevels], {
    description: 'What access tokens allow at /api/oauth/organizations (read) and /api/oauth/workspaces (create)',
  }),
  backchannelLogoutUri: nullable(WebUrl),
  backchannelLogoutSessionRequired: Type.Boolean({
    description: 'The app requires sid in logout tokens. They always contain it, in addition to sub',
  }),
  allowAnyLoopbackPort: Type.Boolean({
    description: 'A redirect URI at http://127.0.0.1 or http://[::1] matches every port. For public apps only',
  }),
  ...operatorSettings,
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
 * App in the view of those who manage it: the operator, and the user who registered it, if any. An app with a client
 * metadata document has `metadataFetchedAt` and no owner.
 */
export const App = Type.Object({
  version: Type.String({ description: 'Changes with the settings; `If-Match` of a change can name it' }),
  ...PublicApp.properties,
  redirectUris: Type.Array(Type.String()),
  postLogoutRedirectUris: Type.Array(Type.String()),
  public: Type.Boolean(),
  status: AppStatus,
  ownerIdentityId: nullable(IdentityId),
  idTokenSignedResponseAlg: Algorithm,
  accessTokenTtlSeconds: Type.Integer(),
  refreshTokenTtlSeconds: Type.Integer(),
  requireAuthTime: Type.Boolean(),
  idTokenClaims: Type.Boolean(),
  requiredClaims: RequiredClaims,
  organizationAccess: OrganizationAccess,
  backchannelLogoutUri: nullable(Type.String()),
  backchannelLogoutSessionRequired: Type.Boolean(),
  allowAnyLoopbackPort: Type.Boolean(),
  access: AppAccess,
  groupsClaim: Type.Object({ include: GroupsInclude }),
  metadataFetchedAt: nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type App = Static<typeof App>

const ByClientId = Type.Object({ clientId: ClientId })
const graceSeconds = Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })

/** Bodies and answers of the operations on apps, shared by the admin API and the developer API. */
export const operations = {
  create: {
    takes: { body: NewApp },
    answers: { 201: Type.Object({ ...App.properties, clientSecret: Type.Optional(Type.String()) }) },
  },
  show: { takes: { params: ByClientId }, answers: { 200: App } },
  change: { takes: { params: ByClientId, headers: OptionalIfMatchDigest, body: AppChange }, answers: { 200: App } },
  delete: { takes: { params: ByClientId }, answers: { 204: NoContent } },
  setIcon: { takes: { params: ByClientId }, answers: { 200: App } },
  rotateSecret: {
    takes: {
      params: ByClientId,
      body: optionalBody(Type.Object({ graceSeconds: Type.Optional(graceSeconds) }, { additionalProperties: false })),
    },
    answers: { 201: Type.Object({ clientId: ClientId, clientSecret: Type.String(), previousUntil: Timestamp }) },
  },
} as const

const reading = { security: 'admin', cors: 'auth host', permission: 'apps.read' } as const
const managing = { ...reading, permission: 'apps.manage' } as const
const managingRecently = { ...managing, recentAuthentication: true } as const

export const createApp = endpoint(
  'POST /api/admin/apps',
  { ...managing, summary: 'Register an app; its secret is returned only once' },
  operations.create.takes,
  operations.create.answers,
)

const AppsCursor = Type.String({
  pattern: '^[0-9]{13}-',
  maxLength: limits.clientIdCharactersMax + '0000000000000-'.length,
  description: 'The nextCursor of the previous page',
})

export const listApps = endpoint(
  'GET /api/admin/apps',
  { ...reading, summary: 'List the apps, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(AppsCursor),
      limit: Type.Optional(
        Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 100' }),
      ),
    }),
  },
  { 200: Type.Object({ apps: Type.Array(App), nextCursor: nullable(AppsCursor) }) },
)

export const getAdminApp = endpoint(
  'GET /api/admin/apps/:clientId',
  { ...reading, summary: 'Get an app' },
  operations.show.takes,
  operations.show.answers,
)

export const updateApp = endpoint(
  'PATCH /api/admin/apps/:clientId',
  { ...managing, summary: 'Update an app' },
  operations.change.takes,
  operations.change.answers,
)

export const setAppIcon = endpoint(
  'PUT /api/admin/apps/:clientId/icon',
  { ...managing, ...pictureBody, summary: 'Upload the logo of an app: PNG, JPEG or WebP of at most 2 MiB' },
  operations.setIcon.takes,
  operations.setIcon.answers,
)

export const removeAppIcon = endpoint(
  'DELETE /api/admin/apps/:clientId/icon',
  { ...managing, summary: 'Remove the logo of an app' },
  operations.setIcon.takes,
  operations.setIcon.answers,
)

export const deleteApp = endpoint(
  'DELETE /api/admin/apps/:clientId',
  { ...managingRecently, summary: 'Delete an app and revoke all its tokens' },
  operations.delete.takes,
  operations.delete.answers,
)

export const rotateAppSecret = endpoint(
  'POST /api/admin/apps/:clientId/secret',
  {
    ...managingRecently,
    summary: 'Create a new secret for an app, returned only once; the old one stays valid for graceSeconds',
  },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)
