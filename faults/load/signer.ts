import { createPublicKey, verify } from 'node:crypto'
import { newSigningPair, rotationOf, type SigningPair } from '../../server/testing/signer.ts'
import { registerTestUser, type TestApp } from './test-user.ts'
import { exchange, textOf, type RequestOptions, type Reply } from './exchange.ts'

/** A signing request, and its acknowledged state: `unknown` if the last request got no response. */
export type Request = {
  requestId: string
  payload: string
  publicKey: string
  outcome: 'signed' | 'denied' | Unsettled
}
type Unsettled = 'pending' | 'unknown'

export type Signer = Awaited<ReturnType<typeof registerSigner>>
type ServiceUrls = Parameters<typeof registerTestUser>[0]

/** A stand-in for a private key. The public key shows if both belong together. */
const sealed = (pair: SigningPair) => `sealed.${pair.publicKey}`

/**
 * A user with a signing key. They answer the requests of an app by signing and denying, rotate the key, and record what
 * the service has acknowledged.
 */
export async function registerSigner(place: ServiceUrls, app: TestApp) {
  const { baseUrl } = place
  const customer = await registerTestUser(place, app)
  const { identityId, sessions, history } = customer
  const { client_id: clientId, client_secret: clientSecret } = app
  const requests: Request[] = []
  let current = newSigningPair()
  /** Keys that may have replaced the current one in a rotation without a response. */
  let perhaps: SigningPair[] = []

  async function send(what: string, path: string, options: RequestOptions): Promise<Reply> {
    const reply = await exchange(baseUrl + path, options)
    history.push(`${what}: ${reply?.status ?? 'no answer'}`)
    if (reply?.status === 500) throw new Error(`500 for ${what}: ${JSON.stringify(reply.body)}`)
    return reply?.status === 503 ? undefined : reply
  }
  const asUser = (what: string, method: 'GET' | 'POST' | 'PUT', path: string, json?: object) =>
    send(what, path, { method, headers: { authorization: `Bearer ${sessions.at(-1)}` }, ...(json && { json }) })
  const keyPath = `/api/signing/keys/${identityId}`
  const readKey = () => asUser('read key', 'GET', keyPath)
  const readStatus = (requestId: string, query = '') =>
    send('status', `/api/signing/request/${requestId}/status?clientId=${clientId}${query}`, {})

  const first = { publicKey: current.publicKey, encryptedPrivateKey: sealed(current) }
  const created = await asUser('create key', 'POST', keyPath, first)
  if (created?.status !== 201) throw new Error(`no key: ${JSON.stringify(created)}`)

  return {
    ...customer,
    requests,
    readStatus,

    async ask(payload: string): Promise<Request | undefined> {
      const json = { clientId, clientSecret, identityId, payload }
      const reply = await send('ask', '/api/signing/request', { method: 'POST', json })
      if (reply?.status !== 201) return undefined
      const [requestId, publicKey] = [textOf(reply.body, 'requestId'), textOf(reply.body, 'publicKey')]
      const request: Request = { requestId, payload, publicKey, outcome: 'pending' }
      requests.push(request)
      return request
    },
    async sign(request: Request): Promise<Reply> {
      const json = { signature: current.sign(request.payload) }
      const reply = await asUser('sign', 'POST', `/api/signing/requests/${request.requestId}/sign`, json)
      if (!reply) request.outcome = 'unknown'
      if (reply?.status === 200) request.outcome = 'signed'
      return reply
    },
    async deny(request: Request): Promise<Reply> {
      const reply = await asUser('deny', 'POST', `/api/signing/requests/${request.requestId}/deny`)
      if (!reply) request.outcome = 'unknown'
      if (reply?.status === 200) request.outcome = 'denied'
      return reply
    },
    async rotate(): Promise<void> {
      const next = newSigningPair()
      const json = rotationOf(identityId, current, next, sealed(next))
      const reply = await asUser('rotate', 'PUT', keyPath, json)
      if (reply?.status === 200) [current, perhaps] = [next, []]
      if (!reply) perhaps.push(next)
    },
    /**
     * Checks that the service has exactly one of the possible key pairs, complete; it is the current one from then on.
     */
    async isKeyWhole(): Promise<boolean> {
      const reply = await readKey()
      const found = [current, ...perhaps].find(({ publicKey }) => publicKey === reply?.body['publicKey'])
      if (!found) return false
      ;[current, perhaps] = [found, []]
      return reply?.body['encryptedPrivateKey'] === sealed(found)
    },
    /** Returns the errors in the states that the service now reports. */
    async findLostUpdates(): Promise<string[]> {
      const wrong: string[] = []
      for (const request of requests) {
        const { status, signature, publicKey } = (await readStatus(request.requestId))?.body ?? {}
        const of = `a request that was ${request.outcome}`
        if (publicKey !== request.publicKey) wrong.push(`${of} has another key`)
        const settled = request.outcome === 'signed' || request.outcome === 'denied'
        if (settled && status !== request.outcome) wrong.push(`${of} is ${String(status)}`)
        if (status === 'signed' && !verifies(request, signature)) wrong.push(`${of} has a wrong signature`)
      }
      return wrong
    },
  }
}

/** Checks the signature of the request. */
function verifies({ payload, publicKey }: Request, signature: unknown): boolean {
  if (typeof signature !== 'string') return false
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64'))
}
