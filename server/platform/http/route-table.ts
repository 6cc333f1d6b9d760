import type { Cors } from '@countersign/protocol/endpoint'
import type { RouteOptions } from 'fastify'

type Route = { pattern: RegExp; url: string; method: string; cors: Cors }

/** The paths of a host and their methods: to answer 405 and preflight requests, and 421 on the other hosts. */
export class Routes {
  readonly #routes: Route[] = []

  add({ url, method, config }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
    // regexp: of our own paths, whose parameters are single segments between slashes
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*')}$`)
    for (const each of [method].flat())
      this.#routes.push({ pattern, url, method: each, cors: config?.cors ?? 'no origin' })
  }

  /** The methods that a path answers, each with the origins that may call it. */
  at(path: string): Map<string, Cors> {
    return new Map(this.#routes.filter(({ pattern }) => pattern.test(path)).map(({ method, cors }) => [method, cors]))
  }

  has(method: string, url: string): boolean {
    return this.#routes.some((route) => route.method === method && route.url === url)
  }
}
