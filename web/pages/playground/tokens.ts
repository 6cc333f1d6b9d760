import type { ResponseOf } from '@countersign/protocol/api'
import type { PlaygroundView } from '@countersign/protocol/pages'
import type { TokenResponse, UserInfo } from '@countersign/protocol/oauth/authorize'
import { parseResponse, sendRequest } from '../../lib/api/call.ts'
import type { PendingRequest } from './callback.ts'
import { checkIdToken, type Checks } from './jwt.ts'

/** The tokens and user info that the app received, and the checks that it made. */
export type PlaygroundTokens = {
  tokens: TokenResponse
  userinfo: UserInfo
  checks: Checks | undefined
  refreshes: number
}

/** Redeems a code as a public client, which the code verifier authenticates (RFC 7636 §4.5). */
export async function redeemCode(view: PlaygroundView, code: string, sent: PendingRequest): Promise<PlaygroundTokens> {
  const { clientId, redirectUri } = view
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: sent.verifier }
  return look(view, await requestTokens(view, { ...grant, client_id: clientId }), { nonce: sent.nonce, refreshes: 0 })
}

/** What the app got by acting at the demonstration calendar: its answer, and the token that it sent there. */
export type DelegatedCall = { token: string; calendar: ResponseOf<'GET /api/playground/calendar'> }

/** Redeems a code for a token of the calendar only (RFC 8707 §2.2), and calls the calendar with it. */
export async function callCalendar(view: PlaygroundView, code: string, sent: PendingRequest): Promise<DelegatedCall> {
  const { clientId, redirectUri, calendar, site } = view
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: sent.verifier }
  const form = { ...grant, client_id: clientId, resource: calendar.audience }
  const { access_token: token } = await requestTokens(view, form)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await sendRequest(`${site.baseUrl}/api/playground/calendar`, { headers })
  return { token, calendar: await parseResponse(answer) }
}

/** Redeems a FedCM assertion as a public client. */
export async function redeemAssertion(
  view: PlaygroundView,
  assertion: string,
  sent: PendingRequest,
): Promise<PlaygroundTokens> {
  const form = { assertion, client_id: view.clientId, code_verifier: sent.verifier }
  const tokens = await requestTokens(view, form, '/api/oauth/fedcm/exchange')
  return look(view, tokens, { nonce: sent.nonce, refreshes: 0 })
}

/** Refreshes the tokens (RFC 6749 §6). The new refresh token replaces the one that was used. */
export async function refreshTokens(
  view: PlaygroundView,
  refreshToken: string,
  refreshes: number,
): Promise<PlaygroundTokens> {
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: view.clientId }
  return look(view, await requestTokens(view, grant), { nonce: undefined, refreshes })
}

async function requestTokens(
  { site }: PlaygroundView,
  form: Record<string, string>,
  path = '/api/oauth/token',
): Promise<TokenResponse> {
  return parseResponse(await sendRequest(`${site.baseUrl}${path}`, { method: 'POST', body: new URLSearchParams(form) }))
}

type Context = { nonce: string | undefined; refreshes: number }

async function look(
  view: PlaygroundView,
  tokens: TokenResponse,
  { nonce, refreshes }: Context,
): Promise<PlaygroundTokens> {
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const [userinfo, jwks] = await Promise.all([
    sendRequest(`${view.site.baseUrl}/api/oauth/userinfo`, { headers }).then<UserInfo>(parseResponse),
    sendRequest(`${view.site.authUrl}/.well-known/jwks.json`, {}).then<ResponseOf<'GET /.well-known/jwks.json'>>(
      parseResponse,
    ),
  ])
  const expected = { issuer: view.issuer, clientId: view.clientId, nonce, keys: jwks.keys }
  const checks = tokens.id_token ? await checkIdToken(tokens.id_token, expected, new Date()) : undefined
  return { tokens, userinfo, checks, refreshes }
}

/** Shortens a token response for display: only the ends of the tokens are visible to bystanders. */
export function truncateToken(tokens: TokenResponse): Record<string, unknown> {
  const isToken = (key: string) => ['access_token', 'access_token_jwt', 'id_token', 'refresh_token'].includes(key)
  const shown = (key: string, value: unknown) => (isToken(key) && typeof value === 'string' ? shorten(value) : value)
  return Object.fromEntries(Object.entries(tokens).map(([key, value]) => [key, shown(key, value)]))
}

function shorten(token: string): string {
  return `${token.slice(0, 14)} … ${token.slice(-6)}`
}
