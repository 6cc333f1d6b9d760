import type { Answer, Api, Given } from '@countersign/protocol/api'
import { readSite } from './view.ts'

/** The server said no, and why. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** What it said beside that, by the names of the interface. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, description: string, fields: Record<string, unknown> = {}) {
    super(description)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

/** There was no answer, or none of ours: offline, a server that is away, a proxy that answers in its place. */
export class Unreachable extends Error {}

export type Parts = { params?: Record<string, string>; querystring?: Record<string, string>; body?: unknown }

/** Calls an endpoint as the signed-in person. Throws `Refused` or `Unreachable`. */
export async function call<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<Answer<Name>> {
  return answerOf(await ask(name, given))
}

/** The same for an endpoint whose answer is no JSON. */
export async function callForText<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<string> {
  return textOf(await ask(name, given))
}

function ask<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<Response> {
  const { url, init } = requestOf(readSite().baseUrl, name, given)
  // What the server writes to this person, it writes in the language of the page.
  const headers = { ...init.headers, 'accept-language': document.documentElement.lang }
  return reach(url, { ...init, headers, credentials: 'include' })
}

/** The request that a call makes: `:name` filled from `params`, the rest as query and as JSON. */
export function requestOf(baseUrl: string, name: string, { params = {}, querystring = {}, body }: Parts) {
  const [method = 'GET', template = '/'] = name.split(' ')
  const path = template.replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const query = new URLSearchParams(querystring).toString()
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return { url: `${baseUrl}${path}${query && `?${query}`}`, init: { method, ...json } }
}

/** `fetch`, which throws `Unreachable` where it could not get an answer. */
export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new Unreachable('No answer', { cause: error })
  }
}

/**
 * What an endpoint answered; nothing where it answers nothing. The server serializes by the same schema from which the
 * type comes, so it is taken at its word. Throws `Refused` for a refusal.
 */
export async function answerOf<T>(response: Response): Promise<T> {
  if (response.status === 204) return null as T
  const answer: unknown = await response.json().catch((error: unknown) => {
    throw new Unreachable(`Status ${response.status} without JSON`, { cause: error })
  })
  if (response.ok) return answer as T
  const { error, error_description, ...fields } = answer as Partial<Record<string, string>>
  throw new Refused(response.status, error ?? 'server_error', error_description ?? '', fields)
}

/** The text that an endpoint answered, which comes whole or not at all. */
export async function textOf(response: Response): Promise<string> {
  if (!response.ok) return answerOf(response)
  return response.text().catch((error: unknown) => {
    throw new Unreachable('The answer broke off', { cause: error })
  })
}
