import type { Answer, Api, Given } from '@countersign/protocol/api'
import { Failure } from './failure.ts'
import { fieldsOf, textOf } from './json.ts'
import { readAdminToken, type Settings } from './settings.ts'

const answerTimeoutSeconds = 15

/** The server said no; `code` is the `error` of its answer. */
export class Refused extends Failure {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, description: string) {
    super(description)
    this.status = status
    this.code = code
  }
}

type Parts = { params?: Record<string, string>; querystring?: Record<string, string>; body?: unknown }

/** Calls an endpoint as the operator. Throws `Refused` when the server says no, `Failure` when it says nothing. */
export async function call<Name extends keyof Api>(
  settings: Settings,
  name: Name,
  given: Given<Name>,
): Promise<Answer<Name>> {
  const { method, path, body } = requestOf(name, given)
  const response = await reach(`${settings.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${readAdminToken(settings)}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw await refusalOf(response)
  const answer = response.status === 204 ? null : await readJson(response)
  // The one place where the protocol's word is taken for what the server sent: it serializes by the same schema.
  return answer as Answer<Name>
}

/** `fetch` that follows no redirect, waits a limited time, and fails with a sentence. */
export async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerTimeoutSeconds * 1000), ...init })
  } catch (cause) {
    throw new Failure(`${url} does not answer (${reasonOf(cause)})`, { cause })
  }
}

export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    throw new Failure(`${response.url} answered ${response.status} without JSON`, { cause })
  }
}

/** The body as text. Where the connection is cut before its end, a sentence says so. */
export async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (cause) {
    throw new Failure(`${response.url} was cut off (${reasonOf(cause)})`, { cause })
  }
}

/** `:name` filled from `params`, the rest as query and body. */
function requestOf(name: string, { params = {}, querystring = {}, body }: Parts) {
  const [method = '', template = ''] = name.split(' ')
  const path = template.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const query = new URLSearchParams(querystring).toString()
  return { method, path: query ? `${path}?${query}` : path, body }
}

/** What the server said in place of doing it. */
export async function refusalOf(response: Response): Promise<Refused> {
  const { status } = response
  const { error, error_description: description } = fieldsOf(await readJson(response))
  return new Refused(
    status,
    textOf(error) || `status_${status}`,
    textOf(description) || `The server answered ${status}`,
  )
}

/** `ECONNREFUSED` rather than `fetch failed`: undici hides the reason in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return 'code' in error.cause ? String(error.cause.code) : error.cause.message
  return error.name === 'TimeoutError' ? `nothing within ${answerTimeoutSeconds} s` : error.message
}
