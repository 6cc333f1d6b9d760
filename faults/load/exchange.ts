/** The response: a status and a body. Without a response it is unknown if the request was executed. */
export type Reply = { status: number; body: Record<string, unknown>; headers: Headers } | undefined

export type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  json?: unknown
  form?: Record<string, string>
}

const patienceMilliseconds = 15_000

/** Sends one request. Returns undefined if the connection was lost, or no response came in time. */
export async function exchange(
  url: string,
  { method = 'GET', headers = {}, json, form }: RequestOptions = {},
): Promise<Reply> {
  const body = form ? new URLSearchParams(form) : json === undefined ? undefined : JSON.stringify(json)
  const request = {
    method,
    headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(patienceMilliseconds),
    ...(body !== undefined && { body }),
  }
  try {
    const response = await fetch(url, request)
    const text = await response.text()
    return { status: response.status, body: readObject(text), headers: response.headers }
  } catch {
    return undefined
  }
}

function readObject(text: string): Record<string, unknown> {
  if (!text.startsWith('{')) return {}
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Returns a field of a response that must be a string. */
export function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name]
  if (typeof value !== 'string') throw new Error(`the response has no ${name}: ${JSON.stringify(body)}`)
  return value
}
