import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { exportJWK, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose'
import type { RequestListener } from 'node:http'
import { startDocumentHost } from './document-host.ts'

type Claims = Record<string, unknown>
/** Deviation of an ID token from a correct one: other claims, another key or header, no signature. */
type Forgery = { claims?: Claims; key?: 'foreign' | 'none' | 'the client secret'; kid?: string }

const clientId = 'countersign at acme'
const clientSecret = 'a secret of acme'

/**
 * Starts the OpenID provider of an organization, written by hand so that it can also misbehave. It signs by the clock
 * of the test, and checks PKCE, redirect URI and client of codes like a correct one.
 */
export async function startUpstreamProvider(clock: () => Date) {
  const host = await startDocumentHost()
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const codes = new Map<string, { request: URLSearchParams; claims: Claims; forgery: Forgery }>()
  const issuer = host.at('')
  let userinfo: Claims | undefined

  const metadata: Claims = {
    issuer,
    authorization_endpoint: host.at('/authorize'),
    token_endpoint: host.at('/token'),
    jwks_uri: host.at('/jwks'),
    userinfo_endpoint: host.at('/userinfo'),
    id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  }
  const describe = (changed: Claims = {}) =>
    host.answer('/.well-known/openid-configuration', { body: JSON.stringify({ ...metadata, ...changed }) })
  const publish = async () =>
    host.answer('/jwks', {
      body: JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] }),
    })

  async function sign(claims: JWTPayload, { key, kid = 'one' }: Forgery): Promise<string> {
    if (key === 'none') return new UnsecuredJWT(claims).encode()
    const alg = key === 'the client secret' ? 'HS256' : 'ES256'
    const signer = key === 'the client secret' ? Buffer.from(clientSecret) : (key ? foreign : keys).privateKey
    return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(signer)
  }

  async function redeem(form: URLSearchParams, authorization: string) {
    const found = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (!found) return { error: 'invalid_grant' }
    const { request, claims, forgery } = found
    const credentials = [clientId, clientSecret].map(encodeURIComponent).map((each) => each.replaceAll('%20', '+'))
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isOurs = authorization === `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`
    if (!isOurs) return { error: 'invalid_client' }
    if (challenge !== request.get('code_challenge')) return { error: 'invalid_grant' }
    if (form.get('redirect_uri') !== request.get('redirect_uri')) return { error: 'invalid_grant' }
    const now = Math.floor(clock().getTime() / 1000)
    const honest = { iss: issuer, aud: clientId, iat: now, exp: now + 300, nonce: request.get('nonce') }
    const all = Object.entries({ ...honest, ...claims, ...forgery.claims }).filter(([, value]) => value !== undefined)
    const idToken = await sign(Object.fromEntries(all), forgery)
    return { access_token: 'upstream', token_type: 'Bearer', expires_in: 300, id_token: idToken }
  }

  const token: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      void redeem(form, request.headers.authorization ?? '').then((answer) =>
        response
          .writeHead('error' in answer ? 400 : 200, { 'content-type': 'application/json' })
          .end(JSON.stringify(answer)),
      )
    })
  }
  const serve = async () => {
    describe()
    await publish()
    host.answer('/token', token)
    host.answer('/userinfo', (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(userinfo)),
    )
  }
  await serve()

  return {
    issuer,
    clientId,
    clientSecret,
    host,
    describe,
    serve,
    /** Sets the answer of the userinfo endpoint for every user. */
    say: (claims: Claims) => void (userinfo = claims),
    /** Signs in a user who was redirected here; returns the redirect of their browser. */
    approve(location: string, claims: Claims, forgery: Forgery = {}): URL {
      const request = new URL(location).searchParams
      const code = randomBytes(16).toString('hex')
      codes.set(code, { request, claims, forgery })
      const back = new URL(request.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: request.get('state') ?? '', iss: issuer }).toString()
      return back
    },
    close: host.close,
  }
}
export type UpstreamProvider = Awaited<ReturnType<typeof startUpstreamProvider>>
