import { CountersignError } from './error.ts'

export type Asked = {
  json?: object
  form?: URLSearchParams
  patienceMilliseconds: number
  signal?: AbortSignal | undefined
}

/** One request, and the JSON of its answer. Throws CountersignError, and as it is what the caller's signal says. */
export async function exchange(url: URL, asked: Asked): Promise<unknown> {
  const { response, text } = await ask(url, asked)
  const body = readJson(text)
  if (response.ok && body !== undefined) return body
  throw refusalIn(response, body)
}

/** The same where the answer is a text. */
export async function exchangeText(url: URL, asked: Asked): Promise<string> {
  const { response, text } = await ask(url, asked)
  if (response.ok) return text
  throw refusalIn(response, readJson(text))
}

async function ask(url: URL, { json, form, patienceMilliseconds, signal }: Asked) {
  const late = AbortSignal.timeout(patienceMilliseconds)
  return receive(url, {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    // Wherever it is sent on to, the secret does not belong there.
    redirect: 'manual',
    ...(json && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
    ...(form && { method: 'POST', body: form }),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    const reason = late.aborted ? `within ${patienceMilliseconds / 1000} s` : 'at all'
    throw new CountersignError({ code: 'no_answer', description: `${url.origin} did not answer ${reason}.` }, { cause })
  })
}

async function receive(url: URL, request: RequestInit): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, request)
  return { response, text: await response.text() }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalIn({ status, headers }: Response, body: unknown): CountersignError {
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const when = retryAfter >= 0 ? { retryAfterSeconds: retryAfter } : {}
  if (isRecord(body) && typeof body['error'] === 'string') {
    const { error: code, error_description: description = code } = body
    return new CountersignError({ code, description: String(description), status, ...when })
  }
  const description = `An answer with the status ${status} is none of the interface.`
  return new CountersignError({ code: 'unexpected_answer', description, status, ...when })
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
