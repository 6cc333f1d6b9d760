import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { TokenResponse } from './authorize.ts'
import { limits } from '../formats/limits.ts'
import { ClientId, IdentityId } from '../ids.ts'

/** The names on the wire are those of the W3C: Federated Credential Management, §3 and §4. */
const Text = Type.String({ maxLength: 16_384 })

/** File with the only FedCM provider of a site, for browsers (FedCM §3.1). */
export const webIdentity = endpoint(
  'GET /.well-known/web-identity',
  { security: 'none', cors: 'no origin', host: 'every host', summary: 'Get the provider of this site (FedCM)' },
  {},
  {
    200: Type.Object({
      provider_urls: Type.Array(Type.String()),
      accounts_endpoint: Type.String(),
      login_url: Type.String(),
    }),
  },
)

const Icon = Type.Object({ url: Type.String(), size: Type.Optional(Type.Integer()) })

/** FedCM §3.2. */
export const fedcmConfig = endpoint(
  'GET /api/oauth/fedcm/config',
  { security: 'none', cors: 'no origin', summary: 'FedCM configuration' },
  {},
  {
    200: Type.Object({
      accounts_endpoint: Type.String(),
      client_metadata_endpoint: Type.String(),
      id_assertion_endpoint: Type.String(),
      disconnect_endpoint: Type.String(),
      login_url: Type.String(),
      supports_use_other_account: Type.Boolean(),
      branding: Type.Object({
        name: Type.String(),
        background_color: Type.String(),
        color: Type.String(),
        icons: Type.Array(Icon),
      }),
      modes: Type.Object({ active: Type.Object({ supports_use_other_account: Type.Boolean() }) }),
    }),
  },
)

export const FedcmAccount = Type.Object({
  id: IdentityId,
  name: Type.String(),
  given_name: Type.String(),
  username: Type.String(),
  email: Type.Optional(Type.String()),
  picture: Type.Optional(Type.String()),
  approved_clients: Type.Array(ClientId),
  login_hints: Type.Array(Type.String()),
  domain_hints: Type.Array(Type.String()),
})
export type FedcmAccount = Static<typeof FedcmAccount>

/** FedCM §3.3. Without CORS: no page may read who is signed in. */
export const fedcmAccounts = endpoint(
  'GET /api/oauth/fedcm/accounts',
  { security: 'fedcm session', cors: 'no origin', summary: 'FedCM accounts endpoint' },
  {},
  { 200: Type.Object({ accounts: Type.Array(FedcmAccount) }) },
)

/** FedCM §3.4. */
export const fedcmClientMetadata = endpoint(
  'GET /api/oauth/fedcm/client-metadata',
  { security: 'none', cors: 'any origin', summary: 'FedCM client metadata endpoint' },
  { querystring: Type.Object({ client_id: ClientId }) },
  {
    200: Type.Object({
      privacy_policy_url: Type.Optional(Type.String()),
      terms_of_service_url: Type.Optional(Type.String()),
    }),
  },
)

/** Request of an app in `params`, in addition to what the browser sends. */
export const FedcmAssertionRequest = Type.Object({
  redirectUri: Type.Optional(Text),
  scope: Type.Optional(Text),
  state: Type.Optional(Text),
  nonce: Type.Optional(Text),
  codeChallenge: Type.Optional(Text),
  codeChallengeMethod: Type.Optional(Text),
  prompt: Type.Optional(Text),
  /** Public key that the app has registered for its server, to which its app key is to be encrypted. */
  appKeyJwk: Type.Optional(Text),
})
export type FedcmAssertionRequest = Static<typeof FedcmAssertionRequest>

/** Error format for browsers (FedCM §3.5.1). Its code is `error`, and `code` for earlier browsers. */
const FedcmError = Type.Object({
  error: Type.Object({ error: Type.String(), code: Type.String(), url: Type.String() }),
})
const requestedForApp = { security: 'fedcm session', cors: 'requesting app', refusal: FedcmError } as const

/** FedCM §3.5. Other parameters of the browser are ignored. */
export const fedcmAssertion = endpoint(
  'POST /api/oauth/fedcm/assertion',
  { ...requestedForApp, summary: 'FedCM ID assertion endpoint' },
  {
    body: Type.Object({
      client_id: ClientId,
      account_id: Text,
      params: Type.Optional(Text),
    }),
  },
  { 200: Type.Object({ token: Type.Optional(Type.String()), continue_on: Type.Optional(Type.String()) }) },
)

/** FedCM §3.6. */
export const fedcmDisconnect = endpoint(
  'POST /api/oauth/fedcm/disconnect',
  { ...requestedForApp, summary: 'FedCM disconnect endpoint' },
  { body: Type.Object({ client_id: ClientId, account_hint: Text }) },
  { 200: Type.Object({ account_id: IdentityId }) },
)

export const fedcmFinalize = endpoint(
  'POST /api/oauth/fedcm/finalize',
  {
    security: 'session',
    cors: 'first party',
    summary: 'Finalize a FedCM continuation',
  },
  {
    body: Type.Object({
      code: Text,
      clientId: ClientId,
      /** Reference of the stored sign-in. */
      state: Text,
      /** App key, encrypted to the registered key of the app's server; compact JWE. */
      appKeyJwe: Type.Optional(Type.String({ maxLength: limits.appKeyJweCharactersMax })),
    }),
  },
  { 200: Type.Object({ assertion: Type.String() }) },
)

/** Either spelling of each field, as at the token endpoint. */
export const FedcmExchangeRequest = Type.Object(
  {
    assertion: Text,
    client_id: Type.Optional(Text),
    client_secret: Type.Optional(Text),
    code_verifier: Type.Optional(Text),
    clientId: Type.Optional(Text),
    clientSecret: Type.Optional(Text),
    codeVerifier: Type.Optional(Text),
  },
  { examples: [{ assertion: '…', code_verifier: '…' }] },
)
export type FedcmExchangeRequest = Static<typeof FedcmExchangeRequest>

export const fedcmExchange = endpoint(
  'POST /api/oauth/fedcm/exchange',
  { security: 'client', cors: 'redirect URI origins', summary: 'Exchange an assertion for tokens (FedCM)' },
  { body: FedcmExchangeRequest },
  { 200: TokenResponse },
)
