import { Type, type Static, type TSchema } from 'typebox'
import { GroupKey, Group } from '../accounts/groups.ts'
import { DisplayName, Handle } from '../accounts/identities.ts'
import { AppStatus, settings as appSettings } from '../clients/apps.ts'
import { ClaimMappingsChange } from '../clients/claims.ts'
import { DeclaredResource } from '../clients/resources.ts'
import { DeclaredWebhook } from '../clients/webhooks.ts'
import { AppRolesChange } from '../clients/roles.ts'
import { endpoint } from '../endpoint.ts'
import { languageTags } from '../formats/registries/languages.ts'
import { limits } from '../formats/limits.ts'
import { AdminOrganization } from '../organizations/operator-view.ts'
import { Slug } from '../organizations/organizations.ts'
import { nullable } from '../values.ts'
import { SettingChanges } from './settings.ts'
import { DeclaredSink } from './sinks.ts'

/** Who manages objects, such as the repository of a file. */
const Source = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
  description: 'Names who manages the objects of this document, such as a repository',
})

const { displayName, description, protected: isProtected } = Group.properties

const DeclaredGroup = Type.Object(
  {
    key: GroupKey,
    displayName: Type.Optional(displayName),
    description: Type.Optional(description),
    protected: Type.Optional(nullable(isProtected)),
  },
  { additionalProperties: false, description: 'A group. Its members are not part of a document' },
)
export type DeclaredGroup = Static<typeof DeclaredGroup>

/** Key of an app: that of the document, or the client ID of an app that exists. */
const AppKey = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  description: 'Name of the app in this source; its client ID follows from it. Or the client ID of an existing app',
})

/** Settings of a declared app that have a default, which null restores. A new setting of apps is added here. */
export const defaultedAppSettings = {
  postLogoutRedirectUris: nullable(appSettings.postLogoutRedirectUris),
  allowedScopes: nullable(appSettings.allowedScopes),
  supportsE2ee: nullable(appSettings.supportsE2ee),
  appKeyRecipientJwk: appSettings.appKeyRecipientJwk,
  description: appSettings.description,
  iconUrl: appSettings.iconUrl,
  color: appSettings.color,
  websiteUrl: appSettings.websiteUrl,
  privacyUrl: appSettings.privacyUrl,
  termsUrl: appSettings.termsUrl,
  idTokenSignedResponseAlg: appSettings.idTokenSignedResponseAlg,
  accessTokenTtlSeconds: nullable(appSettings.accessTokenTtlSeconds),
  refreshTokenTtlSeconds: nullable(appSettings.refreshTokenTtlSeconds),
  requireAuthTime: nullable(appSettings.requireAuthTime),
  idTokenClaims: nullable(appSettings.idTokenClaims),
  requiredClaims: nullable(appSettings.requiredClaims),
  organizationAccess: appSettings.organizationAccess,
  backchannelLogoutUri: appSettings.backchannelLogoutUri,
  backchannelLogoutSessionRequired: nullable(appSettings.backchannelLogoutSessionRequired),
  allowAnyLoopbackPort: nullable(appSettings.allowAnyLoopbackPort),
  access: appSettings.access,
  groupsClaim: appSettings.groupsClaim,
  status: AppStatus,
} satisfies Record<Exclude<keyof typeof appSettings, 'name' | 'redirectUris'> | 'status', TSchema>

export const DeclaredApp = Type.Object(
  {
    key: AppKey,
    name: Type.Optional(appSettings.name),
    redirectUris: Type.Optional(appSettings.redirectUris),
    public: Type.Optional(Type.Boolean({ description: 'Without a secret. It never changes' })),
    clientSecret: Type.Optional(
      Type.String({
        minLength: 32,
        maxLength: 200,
        pattern: '^[\\x21-\\x7e]+$',
        writeOnly: true,
        description: 'Random text of 32 to 200 visible ASCII characters. Another one replaces all secrets of the app',
      }),
    ),
    ...Type.Partial(Type.Object(defaultedAppSettings)).properties,
    roles: Type.Optional(AppRolesChange.properties.roles),
    roleAssignments: Type.Optional(AppRolesChange.properties.roleAssignments),
    claims: Type.Optional(ClaimMappingsChange.properties.claims),
    resources: Type.Optional(
      Type.Array(DeclaredResource, {
        maxItems: limits.resourcesPerAppMax,
        description: 'Resources of the app. Those that are absent are disabled',
      }),
    ),
    webhook: Type.Optional(DeclaredWebhook),
  },
  {
    additionalProperties: false,
    description: 'An app. Without clientSecret, a new one gets a random one, which no one learns',
  },
)
export type DeclaredApp = Static<typeof DeclaredApp>

const DeclaredInvitation = Type.Object(
  {
    email: Type.String({ maxLength: 320 }),
    groups: Type.Optional(Type.Array(GroupKey, { maxItems: limits.groupsPerInvitationMax, uniqueItems: true })),
    language: Type.Optional(Type.Enum([...languageTags], { type: 'string' })),
    handle: Type.Optional(Handle),
    displayName: Type.Optional(DisplayName),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  },
  { additionalProperties: false, description: 'A mailed invitation. An address is invited once' },
)
export type DeclaredInvitation = Static<typeof DeclaredInvitation>

const DeclaredOrganization = Type.Object(
  {
    slug: Slug,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Refused if it has another name' })),
    domains: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
        maxItems: limits.domainsPerOrganizationMax,
        uniqueItems: true,
        description: 'Refused if it has not verified each of these',
      }),
    ),
    status: Type.Optional(AdminOrganization.properties.status),
  },
  {
    additionalProperties: false,
    description: 'An organization that exists. name and domains say which one is meant: they never change it',
  },
)
export type DeclaredOrganization = Static<typeof DeclaredOrganization>

/** What an operator declares: an absent section or field is unmanaged, and null restores a default. */
export const ConfigurationDocument = Type.Object(
  {
    apiVersion: Type.Literal('countersign/v1'),
    source: Source,
    settings: Type.Optional(SettingChanges),
    groups: Type.Optional(Type.Array(DeclaredGroup, { maxItems: limits.groupsMax })),
    apps: Type.Optional(Type.Array(DeclaredApp, { maxItems: limits.appsPerDocumentMax })),
    organizations: Type.Optional(Type.Array(DeclaredOrganization, { maxItems: limits.organizationsPerDocumentMax })),
    invitations: Type.Optional(Type.Array(DeclaredInvitation, { maxItems: limits.invitationsListedPerDocumentMax })),
    sinks: Type.Optional(Type.Array(DeclaredSink, { maxItems: limits.sinksMax })),
  },
  { additionalProperties: false },
)
export type ConfigurationDocument = Static<typeof ConfigurationDocument>

const changeActions = ['create', 'update', 'delete', 'adopt', 'none'] as const

/** What applying a document does to an object. Values of secrets are null. */
export const ConfigurationChange = Type.Object({
  object: Type.String({
    description: 'settings, groups/<key>, apps/<key>, organizations/<slug>, invitations/<address> or sinks/<key>',
  }),
  action: Type.Enum([...changeActions], { type: 'string' }),
  fields: Type.Array(Type.Object({ path: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
})
export type ConfigurationChange = Static<typeof ConfigurationChange>

const admin = { security: 'admin', cors: 'auth host' } as const

export const applyConfiguration = endpoint(
  'POST /api/admin/apply',
  {
    ...admin,
    permission: 'configuration.apply',
    recentAuthentication: true,
    summary: 'Apply a document of the configuration, or show what it would change',
  },
  {
    body: Type.Object(
      {
        document: ConfigurationDocument,
        dryRun: Type.Optional(Type.Boolean({ description: 'Only show the changes; the default is true' })),
        digest: Type.Optional(
          Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the plan shown: no other changes are made' }),
        ),
        prune: Type.Optional(
          Type.Boolean({ description: 'Delete what this source manages and the sections of the document do not name' }),
        ),
        adopt: Type.Optional(
          Type.Boolean({ description: 'Manage objects made by hand or by another source from now on' }),
        ),
        confirm: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: `Number of objects that are deleted; required above ${limits.unconfirmedDeletionsMax}`,
          }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { 200: Type.Object({ changes: Type.Array(ConfigurationChange), digest: Type.String() }) },
)

export const exportConfiguration = endpoint(
  'GET /api/admin/export',
  {
    ...admin,
    permission: 'configuration.export',
    summary: 'Get a document of the configuration that the caller may read',
  },
  { querystring: Type.Object({ source: Type.Optional(Source) }) },
  { 200: ConfigurationDocument },
)
