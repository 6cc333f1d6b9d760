import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ActingAs, ByOrganizationId } from './organizations.ts'
import { SignatureAlone, signed } from './signed-action.ts'
import { Instant, OrNull, Uuid, WebUrl } from '../values.ts'

const Name = Type.String({ minLength: 1, maxLength: limits.displayNameCharactersMax })
const Domains = Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
  maxItems: limits.domainsPerOrganizationMax,
  uniqueItems: true,
  description: 'Verified domains of the organization: people with addresses there join by themselves, and are led here',
})
const ClientSecret = Type.String({ minLength: 1, maxLength: 1000 })

/** An OpenID provider, and the client that we are there. Its secret is never told again. */
const Oidc = Type.Object({
  issuer: WebUrl,
  clientId: Type.String({ minLength: 1, maxLength: limits.clientIdCharactersMax }),
  callbackUrl: Type.String({ description: 'To be registered there as the redirect URI' }),
})

/** A SAML 2.0 identity provider, as its metadata described it, and what it is to be told of us. */
const Saml = Type.Object({
  entityId: Type.String({ description: 'The name of the identity provider' }),
  ssoUrl: Type.String(),
  certificates: Type.Array(
    Type.Object({ sha256: Type.String({ description: 'The fingerprint, in hexadecimal' }), expiresAt: Instant }),
  ),
  metadataUrl: Type.String({ description: 'Our metadata, and our entity id: to be registered there' }),
  acsUrl: Type.String({ description: 'Where the answers go: to be registered there' }),
  encryption: Type.Optional(
    Type.Object(
      { certificate: Type.String({ description: 'PEM' }), expiresAt: Instant },
      { description: 'The key to which answers may be encrypted, as our metadata publishes it' },
    ),
  ),
})
const SamlMetadata = Type.Object({
  metadata: Type.Optional(Type.String({ minLength: 1, maxLength: limits.samlMetadataBytesMax })),
  metadataUrl: Type.Optional(WebUrl),
})

const SubjectBy = Type.Union([Type.Literal('externalId'), Type.Literal('email')], {
  description: 'What of a SCIM user is what the provider calls the same person: its subject, or a verified address',
})

/** That a directory of the organization says by SCIM 2.0 (RFC 7644) who may come by a connection. */
const Scim = Type.Object({
  baseUrl: Type.String({ description: 'To be entered at the directory, with the token' }),
  subjectBy: SubjectBy,
  tokenCreatedAt: Instant,
})

/** A way for the people of an organization to sign in with what they have there already. */
export const SsoConnection = Type.Object({
  connectionId: Uuid,
  name: Type.String(),
  enabled: Type.Boolean(),
  domains: Type.Array(Type.String()),
  oidc: Type.Optional(Oidc),
  saml: Type.Optional(Saml),
  scim: Type.Optional(Scim),
  testedAt: OrNull(Instant),
  confirmedAt: OrNull({
    ...Instant,
    description: 'Since when an owner has confirmed it as it is: then it meets ssoRequired',
  }),
  inUse: Type.Boolean({ description: 'Whether it is the one that people are sent to where ssoRequired is on' }),
  createdAt: Instant,
  updatedAt: Instant,
})
export type SsoConnection = Static<typeof SsoConnection>

export const NewSsoConnection = Type.Object({
  name: Name,
  domains: Type.Optional(Domains),
  enabled: Type.Optional(Type.Boolean({ description: 'true where it is left away' })),
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
    ...signed,
  }),
)
export type SsoConnectionChange = Static<typeof SsoConnectionChange>

const business = { security: 'session', cors: 'our pages', host: 'business' } as const
const ByConnectionId = Type.Object({ ...ByOrganizationId.properties, connectionId: Uuid })
const One = Type.Object({ connection: SsoConnection })

export const listSsoConnections = endpoint(
  'GET /api/organizations/:organizationId/sso-connections',
  { ...business, summary: 'List the connections of an organization to its own sign-in' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ connections: Type.Array(SsoConnection) }) },
)

export const createSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections',
  { ...business, summary: 'Connect an OpenID or SAML provider of an organization' },
  { params: ByOrganizationId, querystring: ActingAs, body: NewSsoConnection },
  { 201: One },
)

export const readSsoConnection = endpoint(
  'GET /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Read a connection of an organization' },
  { params: ByConnectionId, querystring: ActingAs },
  { 200: One },
)

export const changeSsoConnection = endpoint(
  'PATCH /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Change a connection, disable it, or enable it; whose provider it is stays' },
  { params: ByConnectionId, querystring: ActingAs, body: SsoConnectionChange },
  { 200: One },
)

export const deleteSsoConnection = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId',
  { ...business, summary: 'Delete a connection, and sign out whom it alone has signed in' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

export const confirmSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/confirm',
  { ...business, summary: 'Confirm a connection as it is, as an owner: only then does it meet ssoRequired' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureAlone },
  { 200: One },
)

export const testSsoConnection = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/test',
  { ...business, summary: 'Begin a test sign-in, which connects nobody: open its address within five minutes' },
  { params: ByConnectionId, querystring: ActingAs },
  { 200: Type.Object({ url: Type.String() }) },
)

export const createScimToken = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token',
  { ...business, summary: 'Make the token with which a directory says by SCIM who may come; an earlier one ends' },
  { params: ByConnectionId, querystring: ActingAs, body: Type.Object({ subjectBy: SubjectBy, ...signed }) },
  { 201: Type.Object({ token: Type.String({ description: 'Told this once' }), connection: SsoConnection }) },
)

export const deleteScimToken = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/scim-token',
  { ...business, summary: 'Remove the token of a directory, and forget whom it has named; members stay members' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

export const createSsoEncryptionKey = endpoint(
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key',
  {
    ...business,
    summary: 'Publish a new key for a SAML provider to encrypt to; the one before opens for 30 days more',
  },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureAlone },
  { 201: One },
)

export const deleteSsoEncryptionKey = endpoint(
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key',
  { ...business, summary: 'Publish no key for a SAML provider to encrypt to; the last one opens for 30 days more' },
  { params: ByConnectionId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

const pages = { cors: 'our pages' } as const
const Email = Type.String({ minLength: 3, maxLength: limits.emailCharactersMax })

export const discoverSso = endpoint(
  'POST /api/sso/discover',
  { ...pages, security: 'none', summary: 'Where the people of an e-mail domain sign in with their organization' },
  { body: Type.Object({ email: Email }) },
  { 200: Type.Object({ loginUrl: Type.String() }) },
)

export const startSso = endpoint(
  'POST /api/sso/:connectionId/start',
  { ...pages, security: 'none', summary: 'Begin a sign-in with an organization from a page of this service' },
  {
    params: Type.Object({ connectionId: Type.String() }),
    body: Type.Object({
      returnTo: Type.Optional(Type.String({ description: 'The page of this service to go to afterwards' })),
      loginHint: Type.Optional(Email),
    }),
  },
  { 200: Type.Object({ url: Type.String({ description: 'Where the provider asks the user to sign in' }) }) },
)

const Named = Type.Object({ displayName: Type.String(), handle: Type.String() })

/** What a provider has said of whoever sits at this browser, before anybody here is taken for them. */
export const SsoArrival = Type.Object({
  purpose: Type.Union([Type.Literal('sign in'), Type.Literal('test')]),
  organization: Type.Object({ name: Type.String(), logoUrl: OrNull(Type.String()) }),
  subject: Type.String(),
  email: OrNull(Type.String()),
  emailVerified: Type.Boolean(),
  displayName: OrNull(Type.String()),
  mayJoin: Type.Boolean({ description: 'Whether somebody may connect who is no member yet, and is one by that' }),
  signIn: OrNull(
    Type.Object({
      identity: Type.Object(Named.properties, { description: 'The connected identity, which a confirmation signs in' }),
      replaces: OrNull(
        Type.Object(Named.properties, { description: 'The other user who is signed in, until that is confirmed' }),
      ),
    }),
  ),
})
export type SsoArrival = Static<typeof SsoArrival>

const ByFlowId = Type.Object({ flowId: Uuid })

/** Who the page has shown to the user, by their usernames: whom a confirmation signs in, and instead of whom. */
export const SsoConfirmation = Type.Object({
  handle: Type.String({ maxLength: 100, description: '`signIn.identity.handle`, as it was read' }),
  replaces: Type.Optional(
    Type.String({ maxLength: 100, description: '`signIn.replaces.handle`, as it was read; left out for nobody' }),
  ),
})
export type SsoConfirmation = Static<typeof SsoConfirmation>

export const readSsoArrival = endpoint(
  'GET /api/sso/arrivals/:flowId',
  { ...pages, security: 'none', summary: 'Read what the provider of an organization has said in this browser' },
  { params: ByFlowId },
  { 200: SsoArrival },
)

export const confirmSso = endpoint(
  'POST /api/sso/arrivals/:flowId/confirm',
  {
    ...pages,
    security: 'none',
    summary: 'Sign in as the identity that the provider has named, in place of anyone else',
  },
  { params: ByFlowId, body: SsoConfirmation },
  { 200: Type.Object({ returnTo: Type.String() }) },
)

export const linkSso = endpoint(
  'POST /api/sso/arrivals/:flowId/link',
  { ...pages, security: 'session', summary: 'Connect one of my identities to who the provider says I am' },
  { params: ByFlowId, body: Type.Object({ identityId: Uuid }) },
  { 200: Type.Object({ returnTo: Type.String() }) },
)
