import { setTimeout as pass } from 'node:timers/promises'
import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { CliError, fieldsOf, textOf } from './terminal.ts'
import { type Settings, loadAdminToken } from './settings.ts'

const answerTimeoutSeconds = 15

/** A rate limit that allows nothing after as many pauses will not do so. */
const attemptsMax = 10
const pauseSecondsMax = 120

/** An error response of the server; `code` is its `error` field. */
export class ApiError extends CliError {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, description: string) {
    super(description)
    this.status = status
    this.code = code
  }
}

type Fields = Record<string, string>
type Parts = { params?: Fields; querystring?: Fields; headers?: Fields; body?: unknown }

/**
 * Calls an endpoint as the operator. A read waits for the rate limit. Throws `ApiError` for an error response,
 * `CliError` if there is no response.
 */
export async function call<Name extends keyof Api>(
  settings: Settings,
  name: Name,
  given: RequestOf<Name>,
  limit: TimeLimit = {},
): Promise<ResponseOf<Name>> {
  const { body }: Parts = given
  const content = body === undefined ? undefined : { body: JSON.stringify(body), type: jsonType }
  return send(settings, name, given, { content, ...limit })
}

/** Calls an endpoint whose body is a file. */
export function sendFile<Name extends keyof Api>(
  settings: Settings,
  name: Name,
  given: RequestOf<Name>,
  file: Content,
): Promise<ResponseOf<Name>> {
  return send(settings, name, given, { content: file })
}

/**
 * Opens a response that lasts until `signal` aborts, for the caller to read. Throws `ApiError` for an error response,
 * `CliError` if there is no response.
 */
export async function openStream<Name extends keyof Api>(
  settings: Settings,
  name: Name,
  given: RequestOf<Name>,
  signal: AbortSignal,
): Promise<Response> {
  const { method, path, headers } = requestOf(name, given)
  const authorization = `Bearer ${loadAdminToken(settings)}`
  const response = await reach(`${settings.baseUrl}${path}`, { method, signal, headers: { ...headers, authorization } })
  if (!response.ok) throw await refusalOf(response)
  return response
}

const jsonType = 'application/json'

/** Body of a request, with its media type. */
type Content = { body: string | Uint8Array<ArrayBuffer>; type: string }
type TimeLimit = { timeoutSeconds?: number }

async function send<Name extends keyof Api>(
  settings: Settings,
  name: Name,
  given: RequestOf<Name>,
  { content, timeoutSeconds = answerTimeoutSeconds }: { content: Content | undefined } & TimeLimit,
): Promise<ResponseOf<Name>> {
  const { method, path, headers } = requestOf(name, given)
  const init = {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${loadAdminToken(settings)}`,
      ...(content && { 'content-type': content.type }),
    },
    ...(content && { body: content.body }),
  }
  const url = `${settings.baseUrl}${path}`
  const response = await (method === 'GET'
    ? reachInTurn(settings, url, init, timeoutSeconds)
    : reach(url, init, timeoutSeconds))
  if (!response.ok) throw await refusalOf(response)
  const answer = response.status === 204 ? null : await parseJsonResponse(response)
  // The only place that trusts the response to match the protocol: the server serializes by the same schema.
  return answer as ResponseOf<Name>
}

/** Calls `fetch` without redirects and with a time limit, and throws a readable error. */
export async function reach(
  url: string,
  init: RequestInit = {},
  timeoutSeconds = answerTimeoutSeconds,
): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutSeconds * 1000), ...init })
  } catch (cause) {
    throw new CliError(`cannot reach ${url} (${reasonOf(cause, timeoutSeconds)})`, { cause })
  }
}

/** Sends a read again when the rate limit of the server allows it: a list may have more pages than that. */
export async function reachInTurn(
  { json }: Settings,
  url: string,
  init: RequestInit = {},
  timeoutSeconds = answerTimeoutSeconds,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await reach(url, init, timeoutSeconds)
    const seconds = retrySecondsOf(response) ?? 1
    if (response.status !== 429 || seconds > pauseSecondsMax || attempt === attemptsMax) return response
    await response.body?.cancel()
    if (!json) console.error(`rate limit reached; continuing in ${seconds} s`)
    await pass(seconds * 1000)
  }
}

/** Returns the seconds of `Retry-After`, or undefined if there are none. */
function retrySecondsOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

export async function parseJsonResponse(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    throw new CliError(`${response.url} returned ${response.status} without JSON`, { cause })
  }
}

/** Reads the body as text. Throws a readable error if the connection is lost. */
export async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (cause) {
    throw new CliError(`the response of ${response.url} was interrupted (${reasonOf(cause)})`, { cause })
  }
}

/** Fills `:name` in the path from `params`; the other values become query and body. */
function requestOf(name: string, { params = {}, querystring = {}, headers = {} }: Parts) {
  const [method = '', template = ''] = name.split(' ')
  const path = template.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const query = new URLSearchParams(querystring).toString()
  return { method, path: query ? `${path}?${query}` : path, headers }
}

/** Returns the error of a response. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response
  const { error, error_description: description, requestId } = fieldsOf(await parseJsonResponse(response))
  const message = textOf(description) || `The server returned status ${status}`
  // A fault of the server names the request by which its log is searched.
  const request = textOf(requestId) === '' ? '' : ` (requestId ${textOf(requestId)})`
  const seconds = status === 429 ? retrySecondsOf(response) : undefined
  const time = seconds === undefined ? '' : ` (retry in ${seconds} s)`
  return new ApiError(status, textOf(error) || `status_${status}`, message + time + request)
}

/** Returns the reason, such as `ECONNREFUSED`: undici hides it in the cause of `fetch failed`. */
export function reasonOf(error: unknown, timeoutSeconds = answerTimeoutSeconds): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return 'code' in error.cause ? String(error.cause.code) : error.cause.message
  return error.name === 'TimeoutError' ? `no response within ${timeoutSeconds} s` : error.message
}
