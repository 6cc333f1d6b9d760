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

export type SentParameters = Record<string, string>

/** Returns parameters as strings, each at most once (RFC 6749 §3.1). Throws `invalid_request`. */
export function eachOnce(sent: unknown): SentParameters {
  const parameters: SentParameters = {}
  for (const [name, given] of Object.entries(sent ?? {})) {
    const value: unknown = Array.isArray(given) && repeatable.includes(name) ? given.join(' ') : given
    if (typeof value !== 'string') throw errors.invalid_request()
    if (value !== '') parameters[name] = value
  }
  return parameters
}
