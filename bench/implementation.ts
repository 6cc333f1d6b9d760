import type { Answer, Call } from './load.ts'

/** The tokens of one grant, in plaintext. */
export type Tokens = { accessToken: string; refreshToken: string }

/** A provider to measure, in its own process. All providers serve the same requests. */
export type Implementation = AsyncDisposable & {
  name: string
  pid: number
  /** Creates as many token requests, each with a new authorization code. Creating the codes is not measured. */
  codeGrants: (count: number) => Promise<Call[]>
  refresh: (tokens: Tokens) => Call
  userinfo: (tokens: Tokens) => Call
  introspection: (tokens: Tokens) => Call
  keySet: Call
  discovery: Call
}

/** A token request that all implementations accept: a form, the client's secret in the body, PKCE. */
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

/** Parses the tokens of a response. Throws if there are none, because measuring errors is worthless. */
export function tokensOf({ status, body }: Answer): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken } = fieldsOf(body)
  if (status !== 200 || typeof accessToken !== 'string' || typeof refreshToken !== 'string')
    throw new Error(`No tokens in the response: ${status} ${body.slice(0, 300)}`)
  return { accessToken, refreshToken }
}

export function fieldsOf(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null) throw new Error(`Expected an object, not ${json.slice(0, 100)}`)
  return Object.fromEntries(Object.entries(value))
}
