import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { OrganizationId } from '../ids.ts'
import { ActingAs, ByOrganizationId, SignatureOnly, signed } from './organizations.ts'
import { IdentityId } from '../ids.ts'
import { Timestamp, Uuid, WebUrl, nullable } from '../values.ts'

const Name = Type.String({ minLength: 1, maxLength: limits.displayNameCharactersMax })
const Domains = Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
  maxItems: limits.domainsPerOrganizationMax,
  uniqueItems: true,
  description: 'Verified domains of the organization: users with addresses there join automatically, and sign in here',
})
const ClientSecret = Type.String({ minLength: 1, maxLength: 1000, writeOnly: true })

/** OpenID provider, and our client registered there. Its secret is never returned. */
const Oidc = Type.Object({
  issuer: WebUrl,
  clientId: Type.String({ minLength: 1, maxLength: limits.clientIdCharactersMax }),
  callbackUrl: Type.String({ description: 'To be registered there as the redirect URI' }),
})

/** SAML 2.0 identity provider, from its metadata, and our values to register there. */
const Saml = Type.Object({
  entityId: Type.String({ description: 'Entity ID of the identity provider' }),
  ssoUrl: Type.String(),
  certificates: Type.Array(
    Type.Object({ sha256: Type.String({ description: 'The fingerprint, in hexadecimal' }), expiresAt: Timestamp }),
  ),
  metadataUrl: Type.String({ description: 'Our metadata, and our entity ID: to be registered there' }),
  acsUrl: Type.String({ description: 'Assertion consumer service URL: to be registered there' }),
  encryption: Type.Optional(
    Type.Object(
      { certificate: Type.String({ description: 'PEM' }), expiresAt: Timestamp },
      { description: 'The key to which assertions may be encrypted, as published in our metadata' },
    ),
  ),
})
const SamlMetadata = Type.Object({
  metadata: Type.Optional(Type.String({ minLength: 1, maxLength: limits.samlMetadataBytesMax, writeOnly: true })),
  metadataUrl: Type.Optional(WebUrl),
})

const SubjectBy = Type.Union([Type.Literal('externalId'), Type.Literal('email')], {
  description: "How a SCIM user is matched with the provider's user: by subject, or by a verified address",
})

/** SCIM 2.0 provisioning (RFC 7644) of a connection by a directory of the organization. */
const Scim = Type.Object({
  baseUrl: Type.String({ description: 'To be entered in the directory, with the token' }),
  subjectBy: SubjectBy,
  tokenCreatedAt: Timestamp,
})

/** Rule by which a value from the provider makes users members of a group. */
export const GroupRule = Type.Object(
  {
    claim: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Claim of the ID token or userinfo, or SAML attribute: a text, or a list of texts',
    }),
    value: Type.String({ minLength: 1, maxLength: 255, description: 'Compared exactly' }),
    group: Type.String({
      pattern: '^org:[a-z0-9-]+:[a-z0-9][a-z0-9._/-]*$',
      maxLength: 63,
      description: 'Key of the group: `org:`, the slug of the organization, `:` and a name',
    }),
  },
  { additionalProperties: false },
)
export type GroupRule = Static<typeof GroupRule>

const GroupRules = Type.Array(GroupRule, {
  maxItems: limits.groupRulesPerConnectionMax,
  uniqueItems: true,
  description: 'Replaces all rules. A group that does not exist is created',
})

/** Our values to register at a provider before a connection to it is created. */
export const NextSsoConnection = Type.Object(
  {
    connectionId: Uuid,
    callbackUrl: Oidc.properties.callbackUrl,
    metadataUrl: Saml.properties.metadataUrl,
    acsUrl: Saml.properties.acsUrl,
  },
  { description: 'The connection that is created next: its URLs can be registered at the provider before' },
)
export type NextSsoConnection = Static<typeof NextSsoConnection>

/** SSO connection of an organization. */
export const SsoConnection = Type.Object({
  connectionId: Uuid,
  name: Type.String(),
  enabled: Type.Boolean(),
  domains: Type.Array(Type.String()),
  oidc: Type.Optional(Oidc),
  saml: Type.Optional(Saml),
  scim: Type.Optional(Scim),
  groupRules: Type.Array(GroupRule),
  testedAt: nullable(Timestamp),
  confirmedAt: nullable({
    ...Timestamp,
    description: 'Since when an owner has confirmed the current settings, which satisfies ssoRequired',
  }),
  inUse: Type.Boolean({ description: 'Whether users are sent to it if ssoRequired is on' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type SsoConnection = Static<typeof SsoConnection>

export const NewSsoConnection = Type.Object({
  name: Name,
  domains: Type.Optional(Domains),
  enabled: Type.Optional(Type.Boolean({ description: 'The default is true' })),
  oidc: Type.Optional(Type.Object({ issuer: WebUrl, clientId: Oidc.properties.clientId, clientSecret: ClientSecret })),
  saml: Type.Optional(SamlMetadata),
  ...signed,
})
export type NewSsoConnection = Static<typeof NewSsoConnection>

export const SsoConnectionChange = Type.Partial(
  Type.Object({
    name: Name,
    domains: Domains,
    enabled: Type.Boolean(),
    oidc: Type.Object({ clientSecret: ClientSecret }),
    saml: SamlMetadata,
    groupRules: GroupRules,
    ...signed,
  }),
)
export type SsoConnectionChange = Static<typeof SsoConnectionChange>

const business = { security: 'session', cors: 'first party', host: 'business' } as const
const ByConnectionId = Type.Object({ ...ByOrganizationId.properties, connectionId: Uuid })
const One = Type.Object({ connection: SsoConnection })

export const listSsoConnections = endpoint(
  'GET /api/organizations/:organizationId/sso-connections',
  { ...business, summary: 'List the SSO connections of an organization' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ connections: Type.Array(SsoConnection), next: NextSsoConnection }) },
)

export const createSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections',
  { ...business, summary: 'Create an OpenID or SAML connection of an organization' },
  { params: ByOrganizationId, querystring: ActingAs, body: NewSsoConnection },
  { 201: One },
)

export const getSsoConnection = endpoint(
  'GET /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Get an SSO connection' },
  { params: ByConnectionId, querystring: ActingAs },
  { 200: One },
)

export const updateSsoConnection = endpoint(
  'PATCH /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Update, disable or enable an SSO connection; its provider cannot change' },
  { params: ByConnectionId, querystring: ActingAs, body: SsoConnectionChange },
  { 200: One },
)

export const deleteSsoConnection = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Delete an SSO connection and end the sessions that it alone opened' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

export const confirmSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/confirm',
  {
    ...business,
    summary: 'Confirm the current settings of an SSO connection as an owner, which satisfies ssoRequired',
  },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureOnly },
  { 200: One },
)

export const testSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/test',
  { ...business, summary: 'Start a test sign-in, which links no account: open its URL within five minutes' },
  { params: ByConnectionId, querystring: ActingAs },
  { 200: Type.Object({ url: Type.String() }) },
)

export const createScimToken = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token',
  { ...business, summary: 'Create or replace the SCIM token' },
  { params: ByConnectionId, querystring: ActingAs, body: Type.Object({ subjectBy: SubjectBy, ...signed }) },
  { 201: Type.Object({ token: Type.String({ description: 'Returned only once' }), connection: SsoConnection }) },
)

export const deleteScimToken = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/scim-token',
  { ...business, summary: 'Delete the SCIM token and all provisioned users; members stay members' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

export const createSsoEncryptionKey = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key',
  {
    ...business,
    summary: 'Publish a new encryption key for a SAML provider; the previous one decrypts for 30 more days',
  },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureOnly },
  { 201: One },
)

export const deleteSsoEncryptionKey = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key',
  {
    ...business,
    summary: 'Stop publishing an encryption key for a SAML provider; the last one decrypts for 30 more days',
  },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

const pages = { cors: 'first party' } as const
const Email = Type.String({ minLength: 3, maxLength: limits.emailCharactersMax })

export const discoverSso = endpoint(
  'POST /api/sso/discover',
  { ...pages, security: 'none', summary: 'Find the SSO connection of an e-mail domain' },
  { body: Type.Object({ email: Email }) },
  { 200: Type.Object({ loginUrl: Type.String() }) },
)

export const startSso = endpoint(
  'POST /api/sso/:connectionId/start',
  { ...pages, security: 'none', summary: 'Start an SSO sign-in from a page of this service' },
  {
    params: Type.Object({ connectionId: Type.String() }),
    body: Type.Object({
      returnTo: Type.Optional(Type.String({ description: 'The page of this service to open afterwards' })),
      loginHint: Type.Optional(Email),
    }),
  },
  { 200: Type.Object({ url: Type.String({ description: 'Sign-in URL of the provider' }) }) },
)

const Named = Type.Object({ displayName: Type.String(), handle: Type.String() })

/** SSO sign-in in this browser that the user has not confirmed yet. */
export const PendingSsoLogin = Type.Object({
  purpose: Type.Union([Type.Literal('login'), Type.Literal('test')]),
  organization: Type.Object({ id: OrganizationId, name: Type.String(), logoUrl: nullable(Type.String()) }),
  subject: Type.String(),
  email: nullable(Type.String()),
  emailVerified: Type.Boolean(),
  displayName: nullable(Type.String()),
  mayJoin: Type.Boolean({ description: 'Whether a user who is not a member may link an account and thereby join' }),
  signIn: nullable(
    Type.Object({
      identity: Type.Object(Named.properties, { description: 'The linked identity, which a confirmation signs in' }),
      replaces: nullable(
        Type.Object(Named.properties, { description: 'The other user, who stays signed in until the confirmation' }),
      ),
    }),
  ),
})
export type PendingSsoLogin = Static<typeof PendingSsoLogin>

const ByFlowId = Type.Object({ flowId: Uuid })

/** Users that the page has shown, by username: the one that a confirmation signs in, and the one it replaces. */
export const SsoConfirmation = Type.Object({
  handle: Type.String({ maxLength: 100, description: '`signIn.identity.handle`, unchanged' }),
  replaces: Type.Optional(
    Type.String({ maxLength: 100, description: '`signIn.replaces.handle`, unchanged; omitted if there is none' }),
  ),
})
export type SsoConfirmation = Static<typeof SsoConfirmation>

export const getPendingSsoLogin = endpoint(
  'GET /api/sso/arrivals/:flowId',
  { ...pages, security: 'none', summary: 'Get the pending SSO sign-in of this browser' },
  { params: ByFlowId },
  { 200: PendingSsoLogin },
)

export const confirmSso = endpoint(
  'POST /api/sso/arrivals/:flowId/confirm',
  {
    ...pages,
    security: 'none',
    summary: 'Confirm an SSO sign-in as the linked identity, which ends any other session in this browser',
  },
  { params: ByFlowId, body: SsoConfirmation },
  { 200: Type.Object({ returnTo: Type.String() }) },
)

export const linkSsoAccount = endpoint(
  'POST /api/sso/arrivals/:flowId/link',
  { ...pages, security: 'session', summary: 'Link one of my identities to the SSO account' },
  { params: ByFlowId, body: Type.Object({ identityId: IdentityId }) },
  { 200: Type.Object({ returnTo: Type.String() }) },
)
