import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose'
import type { Leaving } from './ground/logout-ground.ts'
import type { Module } from './plan.ts'

const spec = 'OpenID Connect RP-Initiated Logout'

/** An ID token with another header, and no signature (RFC 7519 §6.1). */
function unsigned(idToken: string): string {
  const [, claims = ''] = idToken.split('.')
  return `${Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')}.${claims}.`
}

/** The same claims and key id, signed by a key of somebody else. */
async function signedByAnother(idToken: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const { kid = '' } = decodeProtectedHeader(idToken)
  return new SignJWT(decodeJwt(idToken)).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(privateKey)
}

/** The same claims, under a MAC by the secret of the client. */
function sealedBySecret(idToken: string, secret: string): string {
  const [, claims = ''] = idToken.split('.')
  const text = `${Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url')}.${claims}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

type Parameters = Record<string, string>
type Change = (usual: Parameters, leaving: Leaving) => Parameters | Promise<Parameters>

/** A request that ends signed out on a page of ours, once the person has said so where they are asked. */
function staysHere(name: string, promise: string, clause: string, changes: Change[]): Module<Leaving> {
  return {
    name,
    promise,
    clause: `${spec} ${clause}`,
    async judge(leaving) {
      for (const change of changes) {
        const usual = await leaving.request()
        await leaving.leaveHere(await change(usual, leaving))
        await leaving.judgeSignedOut()
      }
      return { review: 'the page on which the person ends' }
    },
  }
}

const without = (...names: string[]): Change => {
  return (usual) => Object.fromEntries(Object.entries(usual).filter(([name]) => !names.includes(name)))
}

export const logoutModules: Module<Leaving>[] = [
  {
    name: 'oidcc-rp-initiated-logout-discovery-endpoint-verification',
    promise: 'discovery says where to sign out, and that is a page',
    clause: `${spec} §2.1`,
    async judge({ provider }) {
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
    promise: 'the person is back in the app with its state, and nobody is signed in',
    clause: `${spec} §2, §3`,
    async judge({ request, leaveToApp, judgeSignedOut }) {
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
    'an address that is not registered is not gone to',
    '§3',
    [(usual, { elsewhere }) => ({ ...usual, post_logout_redirect_uri: elsewhere })],
  ),
  staysHere(
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'a hint whose signature was taken away leads nowhere',
    '§2, §3',
    [(usual) => ({ ...usual, id_token_hint: unsigned(usual['id_token_hint'] ?? '') })],
  ),
  staysHere('oidcc-rp-initiated-logout-no-id-token-hint', 'without a hint the person is asked, and stays', '§2, §3', [
    without('id_token_hint'),
  ]),
  staysHere('oidcc-rp-initiated-logout-no-params', 'without anything the person is signed out, and told so', '§2', [
    () => ({}),
  ]),
  staysHere('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', 'without an address the person stays', '§2', [
    without('post_logout_redirect_uri', 'state'),
  ]),
  {
    name: 'oidcc-rp-initiated-logout-no-state',
    promise: 'without a state the app gets none',
    clause: `${spec} §2, §3`,
    async judge({ request, leaveToApp, judgeSignedOut }) {
      const { state: _unsent, ...parameters } = await request()
      assert.deepEqual([...(await leaveToApp(parameters))], [])
      await judgeSignedOut()
    },
  },
  staysHere('oidcc-rp-initiated-logout-only-state', 'a state alone leads nowhere', '§2', [
    ({ state = '' }) => ({ state }),
  ]),
  staysHere(
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'a query that is not registered is not gone to',
    '§3',
    [(usual) => ({ ...usual, post_logout_redirect_uri: `${usual['post_logout_redirect_uri']}?foo=bar` })],
  ),
  staysHere(
    'oidcc-rp-initiated-logout-bad-id-token-hint',
    'a hint that somebody else has signed leads nowhere',
    '§2, §3',
    [
      async (usual) => ({ ...usual, id_token_hint: await signedByAnother(usual['id_token_hint'] ?? '') }),
      (usual, { client }) => ({ ...usual, id_token_hint: sealedBySecret(usual['id_token_hint'] ?? '', client.secret) }),
    ],
  ),
]
