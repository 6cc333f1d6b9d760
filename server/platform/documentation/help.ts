import type { Host } from '#platform/http/host.ts'
import type { BuiltPages } from './built-pages.ts'
import { compressText } from './compressed.ts'

/** Registers the help pages: the documents of this version, without anything of other hosts. */
export function helpRoutes(host: Host, { pages, policy, version }: BuiltPages): void {
  for (const { url, read } of pages) {
    const page = compressText('text/html; charset=utf-8', read, version)
    host.route({
      method: 'GET',
      url,
      config: { security: 'none', cors: 'no origin', host: 'auth', page: true },
      handler: (request, reply) => page.send(request, reply.header('content-security-policy', policy)),
    })
  }
}
