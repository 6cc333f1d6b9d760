/**
 * `better-auth` with its OAuth provider: on PostgreSQL, with ES256 throughout, its rate limit off. Codes come from its
 * own authorization endpoint, with the cookie of a signed-in user.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins'
import pg from 'pg'
import { authorizationQuery, redirectUri, scope, sendReady, onOrder } from './order.ts'

const server = createServer().listen(0)
await once(server, 'listening')
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
const origin = `http://localhost:${address.port}`
const base = `${origin}/api/auth`

const auth = betterAuth({
  baseURL: origin,
  secret: 'a-secret-of-the-bench-that-is-long-enough',
  database: new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 12 }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  disabledPaths: ['/token'],
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
    oauthProvider({
      loginPage: '/login',
      consentPage: '/consent',
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
})
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()
server.on('request', toNodeHandler(auth))

const signedUp = await fetch(`${base}/sign-up/email`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin },
  body: JSON.stringify({ email: 'ada@app.example', password: 'a long password of ada', name: 'Ada Lovelace' }),
})
if (!signedUp.ok) throw new Error(`sign-up failed: ${await signedUp.text()}`)
const cookie = signedUp.headers
  .getSetCookie()
  .map((each) => each.split(';')[0])
  .join('; ')
const client = await auth.api.adminCreateOAuthClient({
  headers: new Headers({ cookie, origin }),
  body: {
    client_name: 'Bench',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_post',
    scope,
    skip_consent: true,
  },
})

onOrder((challenges) =>
  Promise.all(
    challenges.map(async (challenge) => {
      const query = authorizationQuery(client.client_id, challenge)
      const answer = await fetch(`${base}/oauth2/authorize?${query}`, { headers: { cookie }, redirect: 'manual' })
      const text = await answer.text()
      const code = /[?&]code=([^&"]+)/.exec(answer.headers.get('location') ?? text)?.[1]
      if (code === undefined) throw new Error(`no code: ${answer.status} ${text}`)
      return decodeURIComponent(code)
    }),
  ),
)
sendReady({
  token: `${base}/oauth2/token`,
  userinfo: `${base}/oauth2/userinfo`,
  introspection: `${base}/oauth2/introspect`,
  keySet: `${base}/jwks`,
  discovery: `${base}/.well-known/openid-configuration`,
  clientId: client.client_id,
  clientSecret: client.client_secret ?? '',
})
