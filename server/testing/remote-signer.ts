import { randomBytes } from 'node:crypto'
import type { ResponseOf } from '@countersign/protocol/api'
import { answerOf } from './approver.ts'
import { createAuthenticator } from './authenticator.ts'
import type { Served } from './service.ts'
import { keyProofsOf, newSigningPair, rotationOf } from './signer.ts'

type RemoteRequest = { method?: 'GET' | 'POST' | 'PUT' | 'PATCH'; headers?: Record<string, string>; json?: object }

/** Returns the answer of a running service to a request, which must succeed. */
export async function ask<Body = unknown>(
  { baseUrl }: Pick<Served, 'baseUrl'>,
  path: string,
  { method = 'POST', headers, json }: RemoteRequest,
) {
  const type = { 'content-type': 'application/json' }
  const body = json && JSON.stringify(json)
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...headers, ...type },
    ...(body !== undefined && { body }),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

type Started = ResponseOf<'POST /api/auth/register/start'>
type Registered = ResponseOf<'POST /api/auth/register/finish'>
type App = ResponseOf<'POST /api/admin/apps'>
type Key = ResponseOf<'PUT /api/signing/keys/:identityId'>
type Approval = ResponseOf<'POST /api/signing/requests/:requestId/approval'>

/** Creates a user of a running service; `headers` are those of their session. */
export async function createRemotePerson(service: Served, kind = 'person') {
  const handle = `${kind}-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const requested = { handle, displayName: `A ${kind}` }
  const { flowId, options } = await ask<Started>(service, '/api/auth/register/start', { json: requested })
  const finish = { flowId, credential: authenticator.register(options) }
  const registered = await ask<Registered>(service, '/api/auth/register/finish', { json: finish })
  const identityId = registered.identities[0]?.identityId ?? ''
  return { handle, identityId, authenticator, headers: { authorization: `Bearer ${registered.sessionToken}` } }
}

/**
 * Creates a user whose identity has a signing key, and who answers requests over the network as the pages do: keys with
 * proofs, and signatures with approvals.
 */
export async function createRemoteSigner(service: Served) {
  const { handle, identityId, headers, authenticator } = await createRemotePerson(service, 'signer')
  const keyPath = `/api/signing/keys/${identityId}`
  let pair = newSigningPair()
  const { chain } = await ask<Key>(service, keyPath, { method: 'GET', headers })
  const made = keyProofsOf({ event: 'created', identityId, keyVersion: 1, previous: chain.previous, to: pair }, chain)
  await ask(service, keyPath, {
    headers,
    json: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e', ...made },
  })

  const post = (requestId: string, what: string, json: object) =>
    ask(service, `/api/signing/requests/${requestId}/${what}`, { headers, json })
  const give = async (requestId: string, text: string, role: 'self' | 'sign' | 'approve') => {
    const started = await ask<Approval>(service, `/api/signing/requests/${requestId}/approval`, {
      headers,
      json: { role },
    })
    const body = answerOf({ authenticator, pair }, started, { text })
    return post(requestId, role === 'approve' ? 'approve' : 'sign', body)
  }
  return {
    handle,
    identityId,
    headers,
    authenticator,
    get pair() {
      return pair
    },
    sign: (requestId: string, payload: string, role: 'self' | 'sign' = 'self') => give(requestId, payload, role),
    approve: (requestId: string, payload: string) => give(requestId, payload, 'approve'),
    /** Signs without an approval, as a client of the interface may. */
    signAlone: (requestId: string, payload: string) => post(requestId, 'sign', { signature: pair.sign(payload) }),
    deny: (requestId: string) => post(requestId, 'deny', {}),
    /** Rotates the key, which expires all requests pending for the old one. */
    async rotate() {
      const key = await ask<Key>(service, keyPath, { method: 'GET', headers })
      const next = newSigningPair()
      const { log, previous } = key.chain
      const event = { event: 'rotated' as const, identityId, keyVersion: key.keyVersion + 1, previous, to: next }
      const proofs = { previous, ...keyProofsOf(event, { log, from: pair }) }
      const json = { ...rotationOf(identityId, pair, next), ...proofs }
      const rotated = await ask<Key>(service, keyPath, { method: 'PUT', headers, json })
      pair = next
      return rotated
    },
  }
}

/** Registers an app at a running service; `settings` are those of the SDK. */
export async function registerRemoteApp(service: Served, redirectUri = 'https://app.example/callback') {
  const json = { name: 'Paper Shop', redirectUris: [redirectUri] }
  const { clientId, clientSecret = '' } = await ask<App>(service, '/api/admin/apps', { headers: service.admin, json })
  const { baseUrl, authUrl } = service
  return { baseUrl, authUrl, clientId, clientSecret }
}
