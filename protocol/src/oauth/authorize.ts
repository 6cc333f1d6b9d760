import { Type, type Static } from 'typebox'
import { SealedAppKey } from './app-keys.ts'
import { OrganizationAccess } from '../clients/apps.ts'
import { ExchangeResponse } from './delegations.ts'
import { endpoint } from '../endpoint.ts'
import { OrganizationContext } from '../organizations/organization-context.ts'
import { ProviderMetadata } from './provider-metadata.ts'
import { Base64, Ciphertext, ClientId, OrNull, Uuid } from '../values.ts'

/** Longer texts are refused by the rule that reads them, with a sentence; this bounds what reaches it. */
const Text = Type.String({ maxLength: 16_384 })
const session = { security: 'session', cors: 'our pages' } as const

export const AuthorizeRequest = Type.Object({
  clientId: ClientId,
  redirectUri: Text,
  identityId: Uuid,
  scope: Type.Optional(Text),
  /** Scopes that the app requested beside these, and is not granted. */
  withheldScope: Type.Optional(Text),
  state: Type.Optional(Text),
  nonce: Type.Optional(Text),
  codeChallenge: Type.Optional(Text),
  codeChallengeMethod: Type.Optional(Text),
  responseMode: Type.Optional(Text),
  /** Whether the app is to act at a resource of another: then the next three count. */
  connector: Type.Optional(OrNull(Type.Boolean())),
  /** A resource key, or the audience of a resource. */
  requestedResource: Type.Optional(OrNull(Text)),
  /** Which resource that was when the person was asked: another one may have taken its name since. */
  requestedResourceId: Type.Optional(OrNull(Uuid)),
  requestedScope: Type.Optional(OrNull(Text)),
  /** `user_present` unless it says `background`. */
  communicationMode: Type.Optional(OrNull(Text)),
  /** For which organization: one that the identity is a member of. */
  organizationId: Type.Optional(OrNull(Uuid)),
  /** A new key of the app, sealed; that in force stays, and is answered. In asymmetric mode the private half. */
  encryptedAppKey: Type.Optional(OrNull(Ciphertext)),
  appPublicKey: Type.Optional(OrNull(Base64)),
  encryptedAppPrivateKey: Type.Optional(OrNull(Ciphertext)),
  organizationAccess: Type.Optional(OrNull(OrganizationAccess)),
  prompt: Type.Optional(Text),
  maxAge: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Whether the answer goes to the page that ends a sign-in which the browser mediates (FedCM). */
  fedcmContinue: Type.Optional(Type.Boolean()),
  /** The reference of a request that is pushed (RFC 9126) or kept. Its parameters count, and here less scope. */
  requestUri: Type.Optional(Text),
})
export type AuthorizeRequest = Static<typeof AuthorizeRequest>

export const authorize = endpoint(
  'POST /api/oauth/authorize',
  { ...session, ssoSession: 'its organization', summary: 'Consent to an app as one of my identities' },
  { body: AuthorizeRequest },
  {
    200: Type.Object({
      redirectUrl: Type.String(),
      /** With `responseMode` `form_post`: what to post to `redirectUrl`. */
      formFields: Type.Optional(Type.Record(Type.String(), Type.String())),
      /** The key in force of an app with end-to-end encryption, for the browser to open and deliver. */
      appKey: Type.Optional(SealedAppKey),
      /** With `e2ee:reset`: the key that was in force until now. */
      replacedAppKey: Type.Optional(SealedAppKey),
    }),
  },
)

/** Either spelling of each field; where both are sent they must agree. */
export const TokenRequest = Type.Object({
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
})
export type TokenRequest = Static<typeof TokenRequest>

export const TokenUser = Type.Object({
  id: Uuid,
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
  user_id: Type.Optional(Uuid),
  organization: Type.Optional(OrganizationContext),
})
export type TokenResponse = Static<typeof TokenResponse>

/** The answer to a code or a refresh token with which a `resource` comes: a token that is for it alone (RFC 8707). */
export type TargetedResponse = Pick<
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
    cors: 'origins of redirect URIs',
    summary: 'Exchange a code or a refresh token for tokens, or a token of mine for one of a resource (RFC 8693)',
  },
  { body: TokenRequest },
  // One object in place of a choice of two, which a serializer would have to try on every token that it sends.
  {
    200: Type.Unsafe<TokenResponse | TargetedResponse | ExchangeResponse>({
      ...Type.Object({ ...Type.Partial(Type.Object(either)).properties, ...both }),
    }),
  },
)

/** A token that its client hands in. The hint is taken and not needed: a token tells its kind. */
export const PresentedToken = Type.Object({
  token: Type.Optional(Text),
  token_type_hint: Type.Optional(Text),
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Text),
  clientId: Type.Optional(Text),
  clientSecret: Type.Optional(Text),
})
export type PresentedToken = Static<typeof PresentedToken>

export const revoke = endpoint(
  'POST /api/oauth/revoke',
  { security: 'client', cors: 'origins of redirect URIs', summary: 'End a token of my app (RFC 7009)' },
  { body: PresentedToken },
  { 200: Type.Object({}) },
)

/** `active` alone for whatever is neither a live token of the client that asks, nor one for a resource of its own. */
export const Introspection = Type.Object({
  active: Type.Boolean(),
  scope: Type.Optional(Type.String()),
  client_id: Type.Optional(ClientId),
  username: Type.Optional(Type.String()),
  token_type: Type.Optional(Type.Union([Type.Literal('Bearer'), Type.Literal('refresh_token')])),
  exp: Type.Optional(Type.Integer()),
  iat: Type.Optional(Type.Integer()),
  sub: Type.Optional(Uuid),
  organization: Type.Optional(OrganizationContext),
  aud: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
  /** Of a delegated token: the app that acts, by which delegation, at what. */
  act: Type.Optional(Type.Object({ sub: ClientId })),
  grant_id: Type.Optional(Uuid),
  target_resource: Type.Optional(Type.String()),
  com_mode: Type.Optional(Type.String()),
})
export type Introspection = Static<typeof Introspection>

export const introspect = endpoint(
  'POST /api/oauth/introspect',
  { security: 'client', cors: 'no origin', summary: 'What a token of my app, or for my resource, is worth (RFC 7662)' },
  { body: PresentedToken },
  { 200: Introspection },
)

export const UserInfo = Type.Object({
  sub: Uuid,
  name: Type.Optional(Type.String()),
  preferred_username: Type.Optional(Type.String()),
  picture: Type.Optional(Type.String()),
  updated_at: Type.Optional(Type.Integer()),
  email: Type.Optional(Type.String()),
  email_verified: Type.Optional(Type.Boolean()),
  user_id: Type.Optional(Uuid),
  organization: Type.Optional(OrganizationContext),
})
export type UserInfo = Static<typeof UserInfo>

const bearer = { security: 'access token', cors: 'any origin' } as const

export const userinfo = endpoint(
  'GET /api/oauth/userinfo',
  { ...bearer, summary: 'Claims of the identity that signed in' },
  {},
  { 200: UserInfo },
)

export const userinfoByPost = endpoint(
  'POST /api/oauth/userinfo',
  { ...bearer, summary: 'Claims of the identity that signed in (OpenID Connect Core §5.3.1)' },
  {},
  { 200: UserInfo },
)

const metadata = { security: 'none', cors: 'any origin', host: 'auth' } as const

export const openidConfiguration = endpoint(
  'GET /.well-known/openid-configuration',
  { ...metadata, summary: 'Provider metadata (OpenID Connect Discovery)' },
  {},
  { 200: ProviderMetadata },
)

export const authorizationServerMetadata = endpoint(
  'GET /.well-known/oauth-authorization-server',
  { ...metadata, summary: 'Provider metadata (RFC 8414)' },
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
  { ...metadata, summary: 'The keys that verify our tokens' },
  {},
  { 200: Type.Object({ keys: Type.Array(PublicJwk) }) },
)

export const webfinger = endpoint(
  'GET /.well-known/webfinger',
  { ...metadata, summary: 'The issuer of an account (RFC 7033)' },
  { querystring: Type.Object({ resource: Text, rel: Type.Optional(Text) }) },
  {
    200: Type.Object(
      { subject: Type.String(), links: Type.Array(Type.Object({ rel: Type.String(), href: Type.String() })) },
      { contentMediaType: 'application/jrd+json' },
    ),
  },
)
