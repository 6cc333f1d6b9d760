import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose'
import type { LogoutEnv } from './environment/logout-environment.ts'
import type { Module } from './plan.ts'

const spec = 'OpenID Connect RP-Initiated Logout'

/** An ID token with another header, and no signature (RFC 7519 §6.1). */
function unsigned(idToken: string): string {
  const [, claims = ''] = idToken.split('.')
  return `${Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')}.${claims}.`
}

/** The same claims and key id, signed with a foreign key. */
async function signedByAnother(idToken: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const { kid = '' } = decodeProtectedHeader(idToken)
  return new SignJWT(decodeJwt(idToken)).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(privateKey)
}

/** The same claims, with a MAC by the secret of the client. */
function sealedBySecret(idToken: string, secret: string): string {
  const [, claims = ''] = idToken.split('.')
  const text = `${Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url')}.${claims}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

type Parameters = Record<string, string>
type Change = (usual: Parameters, env: LogoutEnv) => Parameters | Promise<Parameters>

/** A request that ends signed out on a page of the provider, after the user has confirmed that where required. */
function staysHere(name: string, promise: string, clause: string, changes: Change[]): Module<LogoutEnv> {
  return {
    name,
    promise,
    clause: `${spec} ${clause}`,
    async check(env) {
      for (const change of changes) {
        const usual = await env.request()
        await env.signOutHere(await change(usual, env))
        await env.checkSignedOut()
      }
      return { review: 'the final page' }
    },
  }
}

const without = (...names: string[]): Change => {
  return (usual) => Object.fromEntries(Object.entries(usual).filter(([name]) => !names.includes(name)))
}

export const logoutModules: Module<LogoutEnv>[] = [
  {
    name: 'oidcc-rp-initiated-logout-discovery-endpoint-verification',
    promise: 'discovery names the logout endpoint, which is a page',
    clause: `${spec} §2.1`,
    async check({ provider }) {
      const { end_session_endpoint: endpoint } = provider.metadata
      assert.ok(endpoint.startsWith(`${provider.issuer}/`))
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(endpoint, { method })
        assert.equal(answer.status, 200, method)
        assert.match(answer.headers.get('content-type') ?? '', /^text\/html\b/)
      }
    },
  },
  {
    name: 'oidcc-rp-initiated-logout',
    promise: 'the user returns to the app with its state, and is signed out',
    clause: `${spec} §2, §3`,
    async check({ request, signOutToApp: leaveToApp, checkSignedOut: judgeSignedOut }) {
      for (const method of ['GET', 'POST'] as const) {
        const parameters = await request()
        const arrived = await leaveToApp(parameters, method)
        assert.deepEqual([...arrived], [['state', parameters['state']]])
        await judgeSignedOut()
      }
    },
  },
  staysHere(
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    'there is no redirect to an unregistered address',
    '§3',
    [(usual, { elsewhere }) => ({ ...usual, post_logout_redirect_uri: elsewhere })],
  ),
  staysHere(
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'a hint whose signature was removed is not followed',
    '§2, §3',
    [(usual) => ({ ...usual, id_token_hint: unsigned(usual['id_token_hint'] ?? '') })],
  ),
  staysHere('oidcc-rp-initiated-logout-no-id-token-hint', 'without a hint the user confirms, and stays', '§2, §3', [
    without('id_token_hint'),
  ]),
  staysHere('oidcc-rp-initiated-logout-no-params', 'without parameters the user confirms, and stays', '§2', [
    () => ({}),
  ]),
  staysHere('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', 'without an address the user stays', '§2', [
    without('post_logout_redirect_uri', 'state'),
  ]),
  {
    name: 'oidcc-rp-initiated-logout-no-state',
    promise: 'without a state the app receives none',
    clause: `${spec} §2, §3`,
    async check({ request, signOutToApp: leaveToApp, checkSignedOut: judgeSignedOut }) {
      const { state: _unsent, ...parameters } = await request()
      assert.deepEqual([...(await leaveToApp(parameters))], [])
      await judgeSignedOut()
    },
  },
  staysHere('oidcc-rp-initiated-logout-only-state', 'a state alone causes no redirect', '§2', [
    ({ state = '' }) => ({ state }),
  ]),
  staysHere(
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'there is no redirect to an address with an unregistered query',
    '§3',
    [(usual) => ({ ...usual, post_logout_redirect_uri: `${usual['post_logout_redirect_uri']}?foo=bar` })],
  ),
  staysHere(
    'oidcc-rp-initiated-logout-bad-id-token-hint',
    'a hint signed with a foreign key is not followed',
    '§2, §3',
    [
      async (usual) => ({ ...usual, id_token_hint: await signedByAnother(usual['id_token_hint'] ?? '') }),
      (usual, { client }) => ({ ...usual, id_token_hint: sealedBySecret(usual['id_token_hint'] ?? '', client.secret) }),
    ],
  ),
]
