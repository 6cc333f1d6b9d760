import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { ServerContext } from '../../server/platform/module/services.ts'

/** What the operator has besides the code: the database, the key that encrypts its secrets, and the admin API. */
export type Means = Pick<ServerContext, 'db' | 'keyring'> & {
  now: Date
  /** Sends a request to the admin API, which must succeed. */
  administer: (method: 'PATCH' | 'POST', url: string, body: object) => Promise<void>
}

/** Changes the text of a body; `parameters` are those of the path. */
export type Rewrite = (text: string, parameters: Record<string, string>) => string | Promise<string>

/** By route, for example `GET /api/signing/keys`. */
export type Rewrites = Record<string, Rewrite>

/**
 * One lie of a service whose code is that of the product: what its operator changes in rows, once, and from then on in
 * answers and in the bodies of requests. `facts` are what the operator knows, as JSON.
 */
export type Lie<Facts> = {
  rows?: (means: Means, facts: Facts) => Promise<void>
  answers?: (facts: Facts, means: () => Means) => Rewrites
  requests?: (facts: Facts) => Rewrites
}

export function defineLie<Facts extends object>(lie: Lie<Facts>): Lie<Facts> {
  return lie
}

/** Rewrites the JSON that an endpoint answers. */
export function rewriteAnswer<Name extends keyof Api>(
  name: Name,
  change: (answer: ResponseOf<Name>, parameters: Record<string, string>) => ResponseOf<Name>,
): Rewrites {
  return { [name]: (text, parameters) => JSON.stringify(change(JSON.parse(text), parameters)) }
}

/** Rewrites the JSON that an endpoint takes. */
export function rewriteRequest<Name extends keyof Api>(
  name: Name,
  change: (body: BodyOf<Name>) => BodyOf<Name>,
): Rewrites {
  return { [name]: (text) => JSON.stringify(change(JSON.parse(text))) }
}

type BodyOf<Name extends keyof Api> = RequestOf<Name> extends { body: infer Body } ? Body : never
