import type { FastifyRequest } from 'fastify'
import { defineErrors } from '#platform/api-error.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'

const errors = defineErrors({ invalid_request: [400, 'A parameter is repeated.'] })

/** Collects the headers and body that identify a client and its request. */
export function sentBy<Body>(request: { body: Body } & Pick<FastifyRequest, 'headers' | 'ip'>) {
  return { authorization: request.headers.authorization, body: request.body, address: clientAddressKey(request) }
}

/** Parameters that may be repeated (RFC 8707 §2). A repeated `resource` matches no resource. */
export const repeatable = ['resource']

/** Key of the name of a repeated parameter. No request can contain it. */
export const repeated = Symbol('repeated')

/** Parameters as strings. A repeated one is left out, and only named. */
export type SentParameters = Record<string, string> & Repeating
export type Repeating = { [repeated]?: string | undefined }

/** Parameters that say where an error goes. If one is repeated, it goes to no app. */
const addressing = ['client_id', 'redirect_uri', 'request_uri']

/**
 * Returns the parameters of an authorization request (RFC 6749 §3.1). The app gets the error of a repeated parameter
 * (§4.1.2.1). Throws `invalid_request` if it cannot, if the request refers to a stored one, and for a value of a JSON
 * body that is not a string.
 */
export function readSent(sent: unknown): SentParameters {
  const parameters: SentParameters = {}
  for (const [name, given] of Object.entries(sent ?? {})) {
    const value: unknown = Array.isArray(given) && repeatable.includes(name) ? given.join(' ') : given
    if (typeof value === 'string') {
      if (value !== '') parameters[name] = value
      continue
    }
    if (!Array.isArray(given)) throw errors.invalid_request({ sentence: 'Each parameter must be a string.' })
    if (addressing.includes(name)) throw errors.invalid_request()
    parameters[repeated] ??= name
  }
  if (parameters[repeated] !== undefined && parameters['request_uri'] !== undefined) throw errors.invalid_request()
  return parameters
}

/** Returns the parameters that were sent once, as strings. Leaves out all others, and rejects nothing. */
export function readUnrepeated(sent: unknown): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent ?? {}))
    if (typeof value === 'string' && value !== '') parameters[name] = value
  return parameters
}
