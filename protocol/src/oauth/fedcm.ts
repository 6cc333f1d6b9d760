import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { TokenResponse } from './authorize.ts'
import { ClientId, Uuid } from '../values.ts'

/** The names on the wire are those of the W3C: Federated Credential Management, §3 and §4. */
const Text = Type.String({ maxLength: 16_384 })

/** The file by which a browser learns that a site has a provider, and one alone (FedCM §3.1). */
export const webIdentity = endpoint(
  'GET /.well-known/web-identity',
  { security: 'none', cors: 'no origin', host: 'every host', summary: 'The provider of this site (FedCM)' },
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
export const federatedConfiguration = endpoint(
  'GET /api/oauth/fedcm/config',
  { security: 'none', cors: 'no origin', summary: 'What a browser needs to know to mediate sign-ins (FedCM)' },
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

export const FederatedAccount = Type.Object({
  id: Uuid,
  name: Type.String(),
  given_name: Type.String(),
  username: Type.String(),
  email: Type.Optional(Type.String()),
  picture: Type.Optional(Type.String()),
  approved_clients: Type.Array(ClientId),
  login_hints: Type.Array(Type.String()),
  domain_hints: Type.Array(Type.String()),
})
export type FederatedAccount = Static<typeof FederatedAccount>

/** FedCM §3.3. Without CORS: no page may read who somebody is. */
export const federatedAccounts = endpoint(
  'GET /api/oauth/fedcm/accounts',
  { security: 'federated session', cors: 'no origin', summary: 'The identities of this browser (FedCM)' },
  {},
  { 200: Type.Object({ accounts: Type.Array(FederatedAccount) }) },
)

/** FedCM §3.4. */
export const federatedClient = endpoint(
  'GET /api/oauth/fedcm/client-metadata',
  { security: 'none', cors: 'any origin', summary: 'What a browser says of an app (FedCM)' },
  { querystring: Type.Object({ client_id: ClientId }) },
  {
    200: Type.Object({
      privacy_policy_url: Type.Optional(Type.String()),
      terms_of_service_url: Type.Optional(Type.String()),
    }),
  },
)

/** What an app may ask for in `params`, beside what the browser says. */
export const FederatedRequest = Type.Object({
  redirectUri: Type.Optional(Text),
  scope: Type.Optional(Text),
  state: Type.Optional(Text),
  nonce: Type.Optional(Text),
  codeChallenge: Type.Optional(Text),
  codeChallengeMethod: Type.Optional(Text),
  prompt: Type.Optional(Text),
})
export type FederatedRequest = Static<typeof FederatedRequest>

/** How a browser wants to be refused (FedCM §3.5.1). */
const Refused = Type.Object({ error: Type.Object({ code: Type.String(), url: Type.String() }) })
const askedForApp = { security: 'federated session', cors: 'the app that asks', refusal: Refused } as const

/** FedCM §3.5. What else the browser says changes nothing. */
export const assertFederated = endpoint(
  'POST /api/oauth/fedcm/assertion',
  { ...askedForApp, summary: 'Sign in to an app as one of them (FedCM)' },
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
export const disconnectFederated = endpoint(
  'POST /api/oauth/fedcm/disconnect',
  { ...askedForApp, summary: 'Disconnect the app that asks (FedCM)' },
  { body: Type.Object({ client_id: ClientId, account_hint: Text }) },
  { 200: Type.Object({ account_id: Uuid }) },
)

export const finalizeFederated = endpoint(
  'POST /api/oauth/fedcm/finalize',
  {
    security: 'session',
    cors: 'our pages',
    summary: 'The assertion for what I have agreed to in the window that a browser opened (FedCM)',
  },
  {
    body: Type.Object({
      code: Text,
      clientId: ClientId,
      /** The reference under which the sign-in waits. */
      state: Text,
    }),
  },
  { 200: Type.Object({ assertion: Type.String() }) },
)

/** Either spelling of each field, as at the token endpoint. */
export const ExchangeOfAssertion = Type.Object({
  assertion: Text,
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Text),
  code_verifier: Type.Optional(Text),
  clientId: Type.Optional(Text),
  clientSecret: Type.Optional(Text),
  codeVerifier: Type.Optional(Text),
})
export type ExchangeOfAssertion = Static<typeof ExchangeOfAssertion>

export const exchangeFederated = endpoint(
  'POST /api/oauth/fedcm/exchange',
  { security: 'client', cors: 'origins of redirect URIs', summary: 'Exchange an assertion for tokens (FedCM)' },
  { body: ExchangeOfAssertion },
  { 200: TokenResponse },
)
