import { createAuthenticator } from '../../../server/testing/authenticator.ts'
import type { Service } from '../../../server/testing/service.ts'
import { clockOf } from './adjustable-clock.ts'
import { checkKeySet, checkMetadata, readDocument, type Metadata } from '../discovery.ts'
import type { Parameters } from './relying-party.ts'

/** A client that is registered with the provider under test. */
export type Client = { clientId: string; secret: string; redirectUri: string }

/** A user who is signed in through the API, for modules that check no page. */
export type Consenter = { identityId: string; headers: { authorization: string } }

export type Provider = Awaited<ReturnType<typeof openProvider>>

/** The provider under test, according to its discovery document. */
export async function openProvider(service: Service) {
  const { baseUrl, authUrl, admin } = service
  const metadata: Metadata = checkMetadata(await readDocument(`${authUrl}/.well-known/openid-configuration`), authUrl)

  /** Registers a client. Fails if `redirectUris` is rejected. */
  const registration = (redirectUris: string[], settings: object = {}) =>
    postJson(`${baseUrl}/api/admin/apps`, { name: 'Conformance client', redirectUris, ...settings }, admin)

  return {
    issuer: authUrl,
    metadata,
    /** Fetches the current key set. */
    readKeys: async () => checkKeySet(await readDocument(metadata.jwks_uri)),
    rotateKeys: () => postJson(`${baseUrl}/api/admin/keys/rotate`, { atOnce: true }, admin),
    clock: clockOf(service),
    registration,
    async register(redirectUris: string[], settings: object = {}): Promise<Client> {
      const response = await registration(redirectUris, settings)
      if (response.status !== 201) throw new Error(`registration failed: ${await response.text()}`)
      const { clientId, clientSecret: secret = '' } = await response.json()
      return { clientId, secret, redirectUri: redirectUris[0] ?? '' }
    },
    async person(): Promise<Consenter> {
      const { identityId, sessionToken } = await registerUser(service)
      return { identityId, headers: { authorization: `Bearer ${sessionToken}` } }
    },
    /** Returns the code that the API issues for a consent. `wanted` has the parameter names of the API. */
    async code({ identityId, headers }: Consenter, client: Client, requested: Parameters = {}): Promise<string> {
      const { clientId, redirectUri } = client
      const consent = { clientId, redirectUri, identityId, scope: 'openid', ...requested }
      const response = await postJson(`${baseUrl}/api/oauth/authorize`, consent, headers)
      if (response.status !== 200) throw new Error(`consent failed: ${await response.text()}`)
      const { redirectUrl } = await response.json()
      return new URL(redirectUrl).searchParams.get('code') ?? ''
    },
    /** Sends a request to the authorization endpoint without a browser, and follows no redirect. */
    requestAuthorization: (parameters: Parameters | URLSearchParams) =>
      fetch(`${metadata.authorization_endpoint}?${new URLSearchParams(parameters)}`, { redirect: 'manual' }),
    /** Sends a token request as this client, with HTTP Basic unless stated otherwise. */
    token({ clientId, secret }: Client, fields: Parameters, by: 'basic' | 'post' | 'nothing' = 'basic') {
      const pair = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')
      const headers = by === 'basic' ? { authorization: `Basic ${pair}` } : undefined
      const credentials = by === 'post' ? { client_id: clientId, client_secret: secret } : {}
      return postForm(metadata.token_endpoint, { ...credentials, ...fields }, headers)
    },
    userinfo: (accessToken: string, method: 'GET' | 'POST' = 'GET', scheme = 'Bearer') =>
      fetch(metadata.userinfo_endpoint, { method, headers: { authorization: `${scheme} ${accessToken}` } }),
  }
}

/** The parameters that redeem a code. */
export function redemption({ redirectUri }: Client, code: string, fields: Parameters = {}): Parameters {
  return { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...fields }
}

export function refreshment(refreshToken: string): Parameters {
  return { grant_type: 'refresh_token', refresh_token: refreshToken }
}

export function postForm(url: string, fields: Parameters, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields) })
}

function postJson(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json', ...headers }
  return fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })
}

async function registerUser({ baseUrl, authUrl }: Service) {
  const { hostname: rpId, origin } = new URL(authUrl)
  const person = { handle: 'conny', displayName: 'Conny Consents' }
  const { flowId, options } = await (await postJson(`${baseUrl}/api/auth/register/start`, person)).json()
  const credential = createAuthenticator({ origin, rpId }).register(options)
  const finished = await postJson(`${baseUrl}/api/auth/register/finish`, { flowId, credential })
  if (finished.status !== 201) throw new Error(`registration failed: ${await finished.text()}`)
  const { identities, sessionToken } = await finished.json()
  return { identityId: String(identities[0].identityId), sessionToken: String(sessionToken) }
}
