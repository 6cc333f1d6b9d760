import type { ResponseOf, Api, RequestOf } from '@countersign/protocol/api'
import { readSiteSettings } from '../page-data.ts'
import { rememberSignedIn } from '../remembered.ts'

/** An error response of the server. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The other members of the error response, by their names in the API. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, description: string, fields: Record<string, unknown> = {}) {
    super(description)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

/** There was no response, or none of this service: the device is offline, or a proxy answered instead of the server. */
export class NetworkError extends Error {}

/** The user that this page shows. `explain` returns what the page says when another one is signed in. */
export type ShownUser = { userId: string; explain: () => Promise<string> }

let shown: ShownUser | undefined
let isNamedInReads = false

/**
 * Names the user that this page shows from now on, in its reads too or only where it changes something. The service
 * refuses the session of another one.
 */
export function setShownUser(user: ShownUser | undefined, inReads: boolean): void {
  shown = user
  isNamedInReads = inReads
}

/** Returns the header of a request as the signed-in user. A request with the method GET is a read. */
export function ofShownUser(method?: string) {
  return shown && (isNamedInReads || method !== 'GET') && { 'countersign-user': shown.userId }
}

type Fields = Record<string, string>
export type Parts = { params?: Fields; querystring?: Fields; headers?: Fields; body?: unknown }

/** Calls an endpoint as the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function call<Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<ResponseOf<Name>> {
  const response = await send(name, given)
  if (name === 'GET /api/auth/session') rememberSignedIn(response.ok)
  return parseResponse(response)
}

/** Calls an endpoint whose response is not JSON. */
export async function callText<Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<string> {
  return textOf(await send(name, given))
}

/** Calls an endpoint of the admin API as one identity of the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function callAs<Name extends keyof Api>(
  identityId: string,
  name: Name,
  given: RequestOf<Name>,
): Promise<ResponseOf<Name>> {
  const { querystring, ...parts }: Parts = given
  return parseResponse(await send(name, { ...parts, querystring: { ...querystring, identity_id: identityId } }))
}

/** Calls an endpoint whose response is a file, as one identity of the signed-in user. Throws like `call`. */
export async function openAs<Name extends keyof Api>(
  identityId: string,
  name: Name,
  given: RequestOf<Name>,
): Promise<Response> {
  const { querystring, ...parts }: Parts = given
  const response = await send(name, { ...parts, querystring: { ...querystring, identity_id: identityId } })
  return response.ok ? response : parseResponse(response)
}

function send(name: string, given: Parts): Promise<Response> {
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  // Mails that this request causes are in the language of the page.
  const headers = { ...init.headers, ...ofShownUser(init.method), 'accept-language': document.documentElement.lang }
  return sendRequest(url, { ...init, headers, credentials: 'include' })
}

/** Builds the request of a call: `:name` from `params`, the rest as query and as JSON. */
export function requestOf(baseUrl: string, name: string, { params = {}, querystring = {}, headers, body }: Parts) {
  const [method = 'GET', template = '/'] = name.split(' ')
  const path = template.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const query = new URLSearchParams(querystring).toString()
  const json =
    body === undefined
      ? { ...(headers && { headers }) }
      : { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  // What ends or deletes something does so even if the user leaves the page.
  const init = { method, ...json, ...(method === 'DELETE' && { keepalive: true }) }
  return { url: `${baseUrl}${path}${query && `?${query}`}`, init }
}

/** Calls `fetch`. Throws `NetworkError` if there was no response. */
export async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new NetworkError('No answer', { cause: error })
  }
}

/**
 * Parses the response of an endpoint, or returns undefined if it has no body. The server serializes by the schema from
 * which the type derives, so the body is not validated again. Throws `ApiError` for an error response.
 */
export async function parseResponse<T>(response: Response): Promise<T> {
  if (response.status === 204) return null as T
  const answer: unknown = await response.json().catch((error: unknown) => {
    throw new NetworkError(`Status ${response.status} without JSON`, { cause: error })
  })
  if (response.ok) return answer as T
  const { error, error_description, ...fields } = answer as Partial<Record<string, string>>
  const explained = error === 'session_changed' ? await shown?.explain() : undefined
  const retryAfterSeconds = response.headers.get('retry-after')
  const parts = { ...fields, retryAfterSeconds }
  throw new ApiError(response.status, error ?? 'server_error', explained ?? error_description ?? '', parts)
}

/** Returns the body of a response as text, complete or not at all. */
export async function textOf(response: Response): Promise<string> {
  if (!response.ok) return parseResponse(response)
  return response.text().catch((error: unknown) => {
    throw new NetworkError('The answer broke off', { cause: error })
  })
}
