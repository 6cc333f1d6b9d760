import type { Answer, Call } from './load.ts'

/** The tokens of one grant, in clear. */
export type Tokens = { accessToken: string; refreshToken: string }

/** A provider under test, as a process of its own that answers the same requests as the others. */
export type Contender = AsyncDisposable & {
  name: string
  pid: number
  /** As many token requests, each with a fresh authorization code. What making the codes costs is not measured. */
  codeGrants: (count: number) => Promise<Call[]>
  refresh: (tokens: Tokens) => Call
  userinfo: (tokens: Tokens) => Call
  keySet: Call
  discovery: Call
}

/** A token request as all contenders take it: a form, the client's secret in the body, PKCE. */
export function tokenRequest(url: string, fields: Record<string, string>): Call {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  }
}

export function userinfoRequest(url: string, { accessToken }: Tokens): Call {
  return { method: 'GET', url, headers: { authorization: `Bearer ${accessToken}` } }
}

/** The tokens of an answer. Throws where there are none: a contender that refuses has measured nothing. */
export function tokensOf({ status, body }: Answer): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken } = fieldsOf(body)
  if (status !== 200 || typeof accessToken !== 'string' || typeof refreshToken !== 'string')
    throw new Error(`No tokens came: ${status} ${body.slice(0, 300)}`)
  return { accessToken, refreshToken }
}

export function fieldsOf(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null) throw new Error(`An object was expected, not ${json.slice(0, 100)}`)
  return Object.fromEntries(Object.entries(value))
}
