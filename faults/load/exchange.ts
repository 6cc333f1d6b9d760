/** What came back: a status and a body, or nothing, and then nobody knows whether it was done. */
export type Reply = { status: number; body: Record<string, unknown>; headers: Headers } | undefined

export type Asked = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  json?: unknown
  form?: Record<string, string>
}

const patienceMilliseconds = 15_000

/** One request. Undefined where the connection was cut, or no answer came in time. */
export async function exchange(url: string, { method = 'GET', headers = {}, json, form }: Asked = {}): Promise<Reply> {
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

/** A field of an answer that must be a text. */
export function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name]
  if (typeof value !== 'string') throw new Error(`the answer has no ${name}: ${JSON.stringify(body)}`)
  return value
}
