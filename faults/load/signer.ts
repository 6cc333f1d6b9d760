import { createPublicKey, verify } from 'node:crypto'
import { newSigningPair, rotationOf, type SigningPair } from '../../server/testing/signer.ts'
import { registerCustomer, type TestApp } from './customer.ts'
import { exchange, textOf, type Asked, type Reply } from './exchange.ts'

/** A request to sign, and what has been acknowledged of it: `unknown` where no answer came to what was asked last. */
export type Request = { requestId: string; payload: string; publicKey: string; became: 'signed' | 'denied' | Unsettled }
type Unsettled = 'pending' | 'unknown'

export type Signer = Awaited<ReturnType<typeof registerSigner>>
type Place = Parameters<typeof registerCustomer>[0]

/** What stands for the private half of a key: by the public one one sees whether both belong together. */
const sealed = (pair: SigningPair) => `sealed.${pair.publicKey}`

/**
 * A person with a signing key whom an app asks, and who signs, denies and rotates the key, and remembers what the
 * service has acknowledged.
 */
export async function registerSigner(place: Place, app: TestApp) {
  const { baseUrl } = place
  const customer = await registerCustomer(place, app)
  const { identityId, sessions, history } = customer
  const { client_id: clientId, client_secret: clientSecret } = app
  const requests: Request[] = []
  let current = newSigningPair()
  /** What the current key may have given way to, where no answer said so. */
  let perhaps: SigningPair[] = []

  async function send(what: string, path: string, asked: Asked): Promise<Reply> {
    const reply = await exchange(baseUrl + path, asked)
    history.push(`${what}: ${reply?.status ?? 'no answer'}`)
    if (reply?.status === 500) throw new Error(`500 for ${what}: ${JSON.stringify(reply.body)}`)
    return reply?.status === 503 ? undefined : reply
  }
  const asPerson = (what: string, method: 'GET' | 'POST' | 'PUT', path: string, json?: object) =>
    send(what, path, { method, headers: { authorization: `Bearer ${sessions.at(-1)}` }, ...(json && { json }) })
  const keyPath = `/api/signing/keys/${identityId}`
  const readKey = () => asPerson('read key', 'GET', keyPath)
  const readStatus = (requestId: string, query = '') =>
    send('status', `/api/signing/request/${requestId}/status?clientId=${clientId}${query}`, {})

  const first = { publicKey: current.publicKey, encryptedPrivateKey: sealed(current) }
  const created = await asPerson('create key', 'POST', keyPath, first)
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
      const request: Request = { requestId, payload, publicKey, became: 'pending' }
      requests.push(request)
      return request
    },
    async sign(request: Request): Promise<Reply> {
      const json = { signature: current.sign(request.payload) }
      const reply = await asPerson('sign', 'POST', `/api/signing/requests/${request.requestId}/sign`, json)
      if (!reply) request.became = 'unknown'
      if (reply?.status === 200) request.became = 'signed'
      return reply
    },
    async deny(request: Request): Promise<Reply> {
      const reply = await asPerson('deny', 'POST', `/api/signing/requests/${request.requestId}/deny`)
      if (!reply) request.became = 'unknown'
      if (reply?.status === 200) request.became = 'denied'
      return reply
    },
    async rotate(): Promise<void> {
      const next = newSigningPair()
      const json = rotationOf(identityId, current, next, sealed(next))
      const reply = await asPerson('rotate', 'PUT', keyPath, json)
      if (reply?.status === 200) [current, perhaps] = [next, []]
      if (!reply) perhaps.push(next)
    },
    /** Whether the service has one of the key pairs that it may have, whole; it is the current one from then on. */
    async isKeyWhole(): Promise<boolean> {
      const reply = await readKey()
      const found = [current, ...perhaps].find(({ publicKey }) => publicKey === reply?.body['publicKey'])
      if (!found) return false
      ;[current, perhaps] = [found, []]
      return reply?.body['encryptedPrivateKey'] === sealed(found)
    },
    /** What is wrong with what the service says of the requests now. */
    async findForgotten(): Promise<string[]> {
      const wrong: string[] = []
      for (const request of requests) {
        const { status, signature, publicKey } = (await readStatus(request.requestId))?.body ?? {}
        const of = `a request that was ${request.became}`
        if (publicKey !== request.publicKey) wrong.push(`${of} has another key`)
        const settled = request.became === 'signed' || request.became === 'denied'
        if (settled && status !== request.became) wrong.push(`${of} is ${String(status)}`)
        if (status === 'signed' && !verifies(request, signature)) wrong.push(`${of} has a wrong signature`)
      }
      return wrong
    },
  }
}

/** Whether it is the signature of the request. */
function verifies({ payload, publicKey }: Request, signature: unknown): boolean {
  if (typeof signature !== 'string') return false
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64'))
}
