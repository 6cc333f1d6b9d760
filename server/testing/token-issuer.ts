import { createHash, createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

type Reply = { status?: number; headers?: Record<string, string>; body?: unknown } | 'nothing'
type RecordedRequest = { path: string; body: string }
type Fields = Record<string, unknown>

export const newSigner = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const newRsaSigner = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

const encoded = (fields: Fields) => Buffer.from(JSON.stringify(fields)).toString('base64url')

/** Builds a compact JWS with any header and signature. */
export function writeJwt(header: Fields, claims: Fields, signatureOf: (data: Buffer) => Buffer): string {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${signatureOf(Buffer.from(signed)).toString('base64url')}`
}

export const byEs256 = (key: KeyObject) => (data: Buffer) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' })
export const byRs256 = (key: KeyObject) => (data: Buffer) => sign('sha256', data, key)
export const byHs256 = (secret: string) => (data: Buffer) => createHmac('sha256', secret).update(data).digest()

/**
 * Starts an issuer of delegated tokens with its own keys and configurable metadata, for tests with tokens that no
 * service signs.
 */
export async function startTokenIssuer() {
  const signer = newSigner()
  const rsa = newRsaSigner()
  const kid = createHash('sha256').update(randomUUID()).digest('base64url')
  const published = (key: KeyObject, fields: Fields) => ({ ...key.export({ format: 'jwk' }), use: 'sig', ...fields })
  const keys = [
    published(signer.publicKey, { kid, alg: 'ES256' }),
    published(rsa.publicKey, { kid: `${kid}-rsa`, alg: 'RS256' }),
  ]
  const requested: RecordedRequest[] = []
  const replies = new Map<string, Reply>([['/.well-known/jwks.json', { body: { keys } }]])

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    requested.push({ path, body: await text(request) })
    const reply = replies.get(path) ?? { status: 404 }
    if (reply === 'nothing') return response.destroy()
    const { status = 200, headers = {}, body } = reply
    return response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the issuer has no port')
  const origin = `http://localhost:${address.port}`

  /** Returns the claims of a valid token with these changes; undefined claims are omitted. */
  const claimsWith = (fields: Fields = {}): Fields => {
    const now = Math.floor(Date.now() / 1000)
    const lifetime = { iat: now, exp: now + 600 }
    const parties = { iss: origin, sub: randomUUID(), aud: 'https://calendar.example/api', client_id: 'app_assistant' }
    const reach = { scope: 'calendar.read', target_resource: 'calendar', com_mode: 'user_present' }
    const grant = { act: { sub: 'app_assistant' }, grant_id: randomUUID(), jti: randomUUID() }
    return { ...parties, ...lifetime, ...reach, ...grant, ...fields }
  }

  return {
    origin,
    kid,
    signer,
    rsa,
    keys,
    requested,
    claimsWith,
    says: (path: string, reply: Reply) => void replies.set(path, reply),
    countOf: (path: string) => requested.filter((each) => each.path === path).length,
    issue: (fields: Fields = {}, header: Fields = {}) =>
      writeJwt({ alg: 'ES256', typ: 'at+jwt', kid, ...header }, claimsWith(fields), byEs256(signer.privateKey)),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
