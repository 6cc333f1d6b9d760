import type { Answer } from '@countersign/protocol/api'
import type { PlaygroundView } from '@countersign/protocol/pages'
import type { TokenResponse, UserInfo } from '@countersign/protocol/oauth/authorize'
import { answerOf, reach } from '../../lib/call.ts'
import type { Sent } from './callback.ts'
import { checkIdToken, type Checks } from './id-token.ts'

/** All that the app got, and what it checked. */
export type Got = { tokens: TokenResponse; userinfo: UserInfo; checks: Checks | undefined; refreshes: number }

/** Redeems a code as a public client: the verifier is its proof (RFC 7636 §4.5). */
export async function redeemCode(view: PlaygroundView, code: string, sent: Sent): Promise<Got> {
  const { clientId, redirectUri } = view
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: sent.verifier }
  return look(view, await requestTokens(view, { ...grant, client_id: clientId }), { nonce: sent.nonce, refreshes: 0 })
}

/** Redeems what came of a dialog of the browser, likewise. */
export async function redeemAssertion(view: PlaygroundView, assertion: string, sent: Sent): Promise<Got> {
  const form = { assertion, client_id: view.clientId, code_verifier: sent.verifier }
  const tokens = await requestTokens(view, form, '/api/oauth/fedcm/exchange')
  return look(view, tokens, { nonce: sent.nonce, refreshes: 0 })
}

/** Refreshes (RFC 6749 §6). The refresh token of the answer takes the place of the one that was used. */
export async function refreshTokens(view: PlaygroundView, refreshToken: string, refreshes: number): Promise<Got> {
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: view.clientId }
  return look(view, await requestTokens(view, grant), { nonce: undefined, refreshes })
}

async function requestTokens(
  { site }: PlaygroundView,
  form: Record<string, string>,
  path = '/api/oauth/token',
): Promise<TokenResponse> {
  return answerOf(await reach(`${site.baseUrl}${path}`, { method: 'POST', body: new URLSearchParams(form) }))
}

type Context = { nonce: string | undefined; refreshes: number }

async function look(view: PlaygroundView, tokens: TokenResponse, { nonce, refreshes }: Context): Promise<Got> {
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const [userinfo, jwks] = await Promise.all([
    reach(`${view.site.baseUrl}/api/oauth/userinfo`, { headers }).then<UserInfo>(answerOf),
    reach(`${view.site.authUrl}/.well-known/jwks.json`, {}).then<Answer<'GET /.well-known/jwks.json'>>(answerOf),
  ])
  const expected = { issuer: view.issuer, clientId: view.clientId, nonce, keys: jwks.keys }
  const checks = tokens.id_token ? await checkIdToken(tokens.id_token, expected, new Date()) : undefined
  return { tokens, userinfo, checks, refreshes }
}

/** A token response as it may be shown over someone's shoulder: the tokens only by their ends. */
export function shortened(tokens: TokenResponse): Record<string, unknown> {
  const isToken = (key: string) => ['access_token', 'access_token_jwt', 'id_token', 'refresh_token'].includes(key)
  const shown = (key: string, value: unknown) => (isToken(key) && typeof value === 'string' ? shorten(value) : value)
  return Object.fromEntries(Object.entries(tokens).map(([key, value]) => [key, shown(key, value)]))
}

function shorten(token: string): string {
  return `${token.slice(0, 14)} … ${token.slice(-6)}`
}
