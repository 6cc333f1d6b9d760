import { randomBytes } from 'node:crypto'
import type { ResponseOf } from '@countersign/protocol/api'
import { createAuthenticator } from './authenticator.ts'
import type { Served } from './service.ts'
import { newSigningPair, rotationOf } from './signer.ts'

type RemoteRequest = { method?: 'POST' | 'PUT' | 'PATCH'; headers?: Record<string, string>; json?: object }

/** Returns the answer of a running service to a request, which must succeed. */
export async function ask<Body = unknown>(
  { baseUrl }: Pick<Served, 'baseUrl'>,
  path: string,
  { method = 'POST', headers, json }: RemoteRequest,
) {
  const type = { 'content-type': 'application/json' }
  const response = await fetch(baseUrl + path, { method, headers: { ...headers, ...type }, body: JSON.stringify(json) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

type Started = ResponseOf<'POST /api/auth/register/start'>
type Registered = ResponseOf<'POST /api/auth/register/finish'>
type App = ResponseOf<'POST /api/admin/apps'>

/** Creates a user of a running service; `headers` are those of their session. */
export async function createRemotePerson(service: Served, kind = 'person') {
  const handle = `${kind}-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const requested = { handle, displayName: `A ${kind}` }
  const { flowId, options } = await ask<Started>(service, '/api/auth/register/start', { json: requested })
  const finish = { flowId, credential: authenticator.register(options) }
  const registered = await ask<Registered>(service, '/api/auth/register/finish', { json: finish })
  const identityId = registered.identities[0]?.identityId ?? ''
  return { handle, identityId, headers: { authorization: `Bearer ${registered.sessionToken}` } }
}

/** Creates a user whose identity has a signing key, and who answers requests over the network. */
export async function createRemoteSigner(service: Served) {
  const { handle, identityId, headers } = await createRemotePerson(service, 'signer')
  const pair = newSigningPair()
  const keyPath = `/api/signing/keys/${identityId}`
  const key = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await ask(service, keyPath, { headers, json: key })
  const answer = (requestId: string, what: string, json: object) =>
    ask(service, `/api/signing/requests/${requestId}/${what}`, { headers, json })
  return {
    handle,
    identityId,
    pair,
    headers,
    approve: (requestId: string, payload: string) => answer(requestId, 'approve', { signature: pair.sign(payload) }),
    sign: (requestId: string, payload: string) => answer(requestId, 'sign', { signature: pair.sign(payload) }),
    deny: (requestId: string) => answer(requestId, 'deny', {}),
    /** Rotates the key, which expires all requests pending for the old one. */
    rotate: () =>
      ask(service, keyPath, { method: 'PUT', headers, json: rotationOf(identityId, pair, newSigningPair()) }),
  }
}

/** Registers an app at a running service; `settings` are those of the SDK. */
export async function registerRemoteApp(service: Served, redirectUri = 'https://app.example/callback') {
  const json = { name: 'Paper Shop', redirectUris: [redirectUri] }
  const { clientId, clientSecret = '' } = await ask<App>(service, '/api/admin/apps', { headers: service.admin, json })
  const { baseUrl, authUrl } = service
  return { baseUrl, authUrl, clientId, clientSecret }
}
