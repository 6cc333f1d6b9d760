import { fileURLToPath } from 'node:url'
import type { PlainView, Site } from '@countersign/protocol/pages'
import serveStatic from '@fastify/static'
import type { Host } from '#kernel/http.ts'
import { assetsFolder, type Pages } from '#kernel/page.ts'

const pagesByPath: Record<string, PlainView['page']> = {
  '/': 'landing',
  '/register': 'register',
  '/login': 'login',
  '/recover': 'recover',
  '/sso': 'sso',
  '/sso/link': 'sso',
  '/account': 'account',
  '/account/identities': 'account',
  '/account/signing': 'account',
  '/account/passkeys': 'account',
  '/account/sessions': 'account',
  '/account/apps': 'account',
  '/account/activity': 'account',
  '/account/data': 'account',
}

const developerPaths = ['/developers', '/developers/new', '/developers/apps/:clientId']

/** The pages that need nothing but themselves, and the built files of all pages. */
export function siteRoutes(host: Host, pages: Pages, site: Site): void {
  const config = { security: 'none', cors: 'no origin', host: 'auth', page: true } as const
  const serve = (url: string, page: PlainView['page']) =>
    host.route({ method: 'GET', url, config, handler: (_request, reply) => pages.show(reply, { page, site }) })
  for (const [url, page] of Object.entries(pagesByPath)) serve(url, page)
  if (site.developers) for (const url of developerPaths) serve(url, 'developers')

  host.register(serveStatic, {
    root: fileURLToPath(assetsFolder),
    prefix: '/assets/',
    index: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders(reply, path) {
      const named = /-[\w-]{8,}\.\w+(\.br|\.gz)?$/.test(path)
      reply.header('cache-control', named ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
    },
  })
}
