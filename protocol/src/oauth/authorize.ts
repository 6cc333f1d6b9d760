import { Type, type Static } from 'typebox'
import { SealedAppKey } from './app-keys.ts'
import { OrganizationAccess } from '../clients/apps.ts'
import { ExchangeResponse } from './delegations.ts'
import { endpoint } from '../endpoint.ts'
import { OrganizationContext } from '../organizations/organizations.ts'
import { ProviderMetadata } from './provider-metadata.ts'
import { ClientId, IdentityId, OrganizationId, UserId } from '../ids.ts'
import { Base64, Ciphertext, nullable, Uuid } from '../values.ts'

/** Longer texts get the error of their own parser; this limits its input. */
const Text = Type.String({ maxLength: 16_384 })
const session = { security: 'session', cors: 'first party' } as const

export const AuthorizeRequest = Type.Object({
  clientId: ClientId,
  redirectUri: Text,
  identityId: IdentityId,
  scope: Type.Optional(Text),
  /** Scopes that the app requested in addition, and that are not granted. */
  withheldScope: Type.Optional(Text),
  state: Type.Optional(Text),
  nonce: Type.Optional(Text),
  codeChallenge: Type.Optional(Text),
  codeChallengeMethod: Type.Optional(Text),
  responseMode: Type.Optional(Text),
  /** True if the app requests access to a resource of another app; required for the next three fields. */
  connector: Type.Optional(nullable(Type.Boolean())),
  /** Resource key or audience. */
  requestedResource: Type.Optional(nullable(Text)),
  /** ID of the resource that was shown to the user: another one may have taken its key since. */
  requestedResourceId: Type.Optional(nullable(Uuid)),
  requestedScope: Type.Optional(nullable(Text)),
  /** `user_present` by default, or `background`. */
  communicationMode: Type.Optional(nullable(Text)),
  /** Organization for which the app is used; the identity must be a member. */
  organizationId: Type.Optional(nullable(OrganizationId)),
  /** New encrypted app key, ignored if there is one already, which is returned. In asymmetric mode the private key. */
  encryptedAppKey: Type.Optional(nullable(Ciphertext)),
  appPublicKey: Type.Optional(nullable(Base64)),
  encryptedAppPrivateKey: Type.Optional(nullable(Ciphertext)),
  organizationAccess: Type.Optional(nullable(OrganizationAccess)),
  prompt: Type.Optional(Text),
  maxAge: Type.Optional(Type.Integer({ minimum: 0 })),
  /** True if the answer goes to the FedCM resolve page. */
  fedcmContinue: Type.Optional(Type.Boolean()),
  /** Reference of a pushed (RFC 9126) or stored request. Its parameters apply; the scope here can only be narrower. */
  requestUri: Type.Optional(Text),
})
export type AuthorizeRequest = Static<typeof AuthorizeRequest>

export const authorize = endpoint(
  'POST /api/oauth/authorize',
  {
    ...session,
    ssoSession: 'its organization',
    recoveredSession: true,
    summary: 'Consent to an app as one of my identities',
  },
  { body: AuthorizeRequest },
  {
    200: Type.Object({
      redirectUrl: Type.String(),
      /** With `responseMode` `form_post`: the fields to post to `redirectUrl`. */
      formFields: Type.Optional(Type.Record(Type.String(), Type.String())),
      /** Current key of an app with end-to-end encryption, for the browser to decrypt and deliver. */
      appKey: Type.Optional(SealedAppKey),
      /** With `e2ee:reset`: the key that was replaced. */
      replacedAppKey: Type.Optional(SealedAppKey),
    }),
  },
)

const tokenRequestFields = {
  grant_type: Type.Optional(Text),
  code: Type.Optional(Text),
  redirect_uri: Type.Optional(Text),
  code_verifier: Type.Optional(Text),
  refresh_token: Type.Optional(Text),
  subject_token: Type.Optional(Text),
  subject_token_type: Type.Optional(Text),
  requested_token_type: Type.Optional(Text),
  resource: Type.Optional(Text),
  audience: Type.Optional(Text),
  actor_token: Type.Optional(Text),
  scope: Type.Optional(Text),
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Text),
  grantType: Type.Optional(Text),
  redirectUri: Type.Optional(Text),
  codeVerifier: Type.Optional(Text),
  refreshToken: Type.Optional(Text),
  subjectToken: Type.Optional(Text),
  subjectTokenType: Type.Optional(Text),
  requestedTokenType: Type.Optional(Text),
  clientId: Type.Optional(Text),
  clientSecret: Type.Optional(Text),
}
/** Examples leave out the credentials of the app, which may come as HTTP Basic authentication. */
const tokenRequestExamples = [
  {
    grant_type: 'authorization_code',
    code: '…',
    redirect_uri: 'https://app.example/callback',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  },
  { grant_type: 'refresh_token', refresh_token: '…' },
  {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: '<access_token_jwt>',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: 'events',
  },
]
/** Either spelling of each field; if both are sent, they must match. */
export const TokenRequest = Type.Object(tokenRequestFields, { examples: tokenRequestExamples })
export type TokenRequest = Static<typeof TokenRequest>

export const TokenUser = Type.Object({
  id: IdentityId,
  handle: Type.Optional(Type.String()),
  displayName: Type.Optional(Type.String()),
  avatarUrl: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  email: Type.Optional(Type.String()),
})
export type TokenUser = Static<typeof TokenUser>

export const TokenResponse = Type.Object({
  access_token: Type.String(),
  access_token_jwt: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  scope: Type.String(),
  id_token: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  user: TokenUser,
  user_id: Type.Optional(UserId),
  organization: Type.Optional(OrganizationContext),
})
export type TokenResponse = Static<typeof TokenResponse>

/** Answer to a code or a refresh token with a `resource`: a token for that resource only (RFC 8707). */
export type ResourceTokenResponse = Pick<
  TokenResponse,
  'access_token' | 'token_type' | 'expires_in' | 'scope' | 'id_token' | 'refresh_token'
>

const { access_token, token_type, expires_in, scope, ...either } = {
  ...TokenResponse.properties,
  ...ExchangeResponse.properties,
}
const both = { access_token, token_type, expires_in, scope }

export const requestToken = endpoint(
  'POST /api/oauth/token',
  {
    security: 'client',
    cors: 'redirect URI origins',
    summary: 'Issue tokens: authorization code, refresh token or token exchange grant',
  },
  { body: TokenRequest },
  // One object instead of a union, which a serializer would have to try for every token response.
  {
    200: Type.Unsafe<TokenResponse | ResourceTokenResponse | ExchangeResponse>({
      ...Type.Object({ ...Type.Partial(Type.Object(either)).properties, ...both }),
    }),
  },
)

/** Token sent by its client. The hint is accepted and ignored: a token shows its own type. */
export const PresentedToken = Type.Object(
  {
    token: Type.Optional(Text),
    token_type_hint: Type.Optional(Text),
    client_id: Type.Optional(Text),
    client_secret: Type.Optional(Text),
    clientId: Type.Optional(Text),
    clientSecret: Type.Optional(Text),
  },
  { examples: [{ token: '…' }] },
)
export type PresentedToken = Static<typeof PresentedToken>

export const revoke = endpoint(
  'POST /api/oauth/revoke',
  { security: 'client', cors: 'redirect URI origins', summary: 'Revoke a token (RFC 7009)' },
  { body: PresentedToken },
  { 200: Type.Object({}) },
)

/** Answers may have claims that the operator mapped for the app. */
const withMappedClaims = { additionalProperties: true }

/** Only `active` unless the token is a live one of the requesting client, or one for its own resource. */
export const Introspection = Type.Object(
  {
    active: Type.Boolean(),
    scope: Type.Optional(Type.String()),
    client_id: Type.Optional(ClientId),
    username: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.Union([Type.Literal('Bearer'), Type.Literal('refresh_token')])),
    exp: Type.Optional(Type.Integer()),
    iat: Type.Optional(Type.Integer()),
    sub: Type.Optional(IdentityId),
    groups: Type.Optional(Type.Array(Type.String())),
    roles: Type.Optional(Type.Array(Type.String())),
    organization: Type.Optional(OrganizationContext),
    aud: Type.Optional(Type.String()),
    iss: Type.Optional(Type.String()),
    /** Of a delegated token: the acting app, the delegation and the resource. */
    act: Type.Optional(Type.Object({ sub: ClientId })),
    grant_id: Type.Optional(Uuid),
    target_resource: Type.Optional(Type.String()),
    com_mode: Type.Optional(Type.String()),
  },
  withMappedClaims,
)
export type Introspection = Static<typeof Introspection>

export const introspect = endpoint(
  'POST /api/oauth/introspect',
  { security: 'client', cors: 'no origin', summary: 'Introspect a token of my app or for my resource (RFC 7662)' },
  { body: PresentedToken },
  { 200: Introspection },
)

export const UserInfo = Type.Object(
  {
    sub: IdentityId,
    name: Type.Optional(Type.String({ examples: ['Ada Lovelace'] })),
    preferred_username: Type.Optional(Type.String()),
    picture: Type.Optional(Type.String()),
    updated_at: Type.Optional(Type.Integer()),
    email: Type.Optional(Type.String()),
    email_verified: Type.Optional(Type.Boolean()),
    user_id: Type.Optional(UserId),
    groups: Type.Optional(Type.Array(Type.String(), { description: 'Keys of the groups of the user, sorted' })),
    roles: Type.Optional(
      Type.Array(Type.String(), { description: 'Keys of the roles of the user in the app, sorted' }),
    ),
    organization: Type.Optional(OrganizationContext),
  },
  withMappedClaims,
)
export type UserInfo = Static<typeof UserInfo>

const bearer = { security: 'access token', cors: 'any origin' } as const

export const userinfo = endpoint(
  'GET /api/oauth/userinfo',
  { ...bearer, summary: 'Get the claims of the user (UserInfo)' },
  {},
  { 200: UserInfo },
)

export const userinfoByPost = endpoint(
  'POST /api/oauth/userinfo',
  { ...bearer, summary: 'Get the claims of the user (OpenID Connect Core §5.3.1)' },
  {},
  { 200: UserInfo },
)

const metadata = { security: 'none', cors: 'any origin', host: 'auth' } as const

export const openidConfiguration = endpoint(
  'GET /.well-known/openid-configuration',
  { ...metadata, summary: 'Get the provider metadata (OpenID Connect Discovery)' },
  {},
  { 200: ProviderMetadata },
)

export const authorizationServerMetadata = endpoint(
  'GET /.well-known/oauth-authorization-server',
  { ...metadata, summary: 'Get the provider metadata (RFC 8414)' },
  {},
  { 200: ProviderMetadata },
)

export const PublicJwk = Type.Object({
  kty: Type.String(),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.String(),
  crv: Type.Optional(Type.String()),
  x: Type.Optional(Type.String()),
  y: Type.Optional(Type.String()),
  n: Type.Optional(Type.String()),
  e: Type.Optional(Type.String()),
})
export type PublicJwk = Static<typeof PublicJwk>

export const jwks = endpoint(
  'GET /.well-known/jwks.json',
  { ...metadata, summary: 'Get the keys that verify tokens (JWKS)' },
  {},
  { 200: Type.Object({ keys: Type.Array(PublicJwk) }) },
)

export const webfinger = endpoint(
  'GET /.well-known/webfinger',
  { ...metadata, summary: 'Find the issuer of an account (WebFinger, RFC 7033)' },
  {
    querystring: Type.Object({
      resource: Text,
      rel: Type.Optional(Type.Union([Text, Type.Array(Text)], { description: 'Relations of the wanted links' })),
    }),
  },
  {
    200: Type.Object(
      { subject: Type.String(), links: Type.Array(Type.Object({ rel: Type.String(), href: Type.String() })) },
      { contentMediaType: 'application/jrd+json' },
    ),
  },
)
