/**
 * `oidc-provider`: in memory, in Maps that drop nothing, with ES256 throughout. Codes are created through its own
 * models, on a message from the parent process.
 */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Provider, type Adapter, type AdapterPayload } from 'oidc-provider'
import { claims, clientId, clientSecret, redirectUri, scope, sendReady, onOrder } from './order.ts'

const stores = new Map<string, Map<string, AdapterPayload>>()

/** The adapter of its examples, with Maps: its default keeps 1,000 entries and drops live tokens. */
class MapAdapter implements Adapter {
  readonly #entries: Map<string, AdapterPayload>
  readonly #grants = new Map<string, string[]>()

  constructor(name: string) {
    this.#entries = stores.get(name) ?? new Map<string, AdapterPayload>()
    stores.set(name, this.#entries)
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#entries.set(id, payload)
    const { grantId } = payload
    if (grantId) this.#grants.set(grantId, [...(this.#grants.get(grantId) ?? []), id])
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#entries.get(id)
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...this.#entries.values()].find((payload) => payload.uid === uid)
  }

  async findByUserCode(): Promise<undefined> {
    return undefined
  }

  async consume(id: string): Promise<void> {
    const payload = this.#entries.get(id)
    if (payload) payload.consumed = Math.floor(Date.now() / 1000)
  }

  async destroy(id: string): Promise<void> {
    this.#entries.delete(id)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const id of this.#grants.get(grantId) ?? []) this.#entries.delete(id)
  }
}

const server = createServer().listen(0)
await once(server, 'listening')
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
const issuer = `http://localhost:${address.port}`
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const provider = new Provider(issuer, {
  adapter: MapAdapter,
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kty: 'EC', alg: 'ES256', use: 'sig', kid: 'bench' }] },
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'picture', 'updated_at'] },
  cookies: { keys: ['a-key-of-the-bench'] },
  features: { devInteractions: { enabled: false }, introspection: { enabled: true } },
  pkce: { required: () => true },
  async findAccount(_context, accountId) {
    return {
      accountId,
      claims: () => ({ sub: accountId, ...claims }),
    }
  },
})
server.on('request', provider.callback())

onOrder(async (challenges) => {
  const client = await provider.Client.find(clientId)
  if (!client) throw new Error('the client is not registered')
  return Promise.all(
    challenges.map(async (codeChallenge) => {
      const accountId = 'ada'
      const grant = new provider.Grant({ accountId, clientId })
      grant.addOIDCScope(scope)
      const grantId = await grant.save()
      const code = new provider.AuthorizationCode({
        accountId,
        client,
        grantId,
        redirectUri,
        scope,
        codeChallenge,
        codeChallengeMethod: 'S256',
        nonce: 'a-nonce-of-usual-length',
        authTime: Math.floor(Date.now() / 1000),
        gty: 'authorization_code',
      })
      return code.save()
    }),
  )
})
sendReady({
  token: `${issuer}/token`,
  userinfo: `${issuer}/me`,
  introspection: `${issuer}/token/introspection`,
  keySet: `${issuer}/jwks`,
  discovery: `${issuer}/.well-known/openid-configuration`,
  clientId,
  clientSecret,
})
