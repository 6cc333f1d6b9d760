import { fileURLToPath } from 'node:url'
import type { PlainView, Site } from '@countersign/protocol/pages'
import serveStatic from '@fastify/static'
import type { Host } from '#platform/http/http.ts'
import { assetsFolder, type Pages } from '#platform/http/page.ts'

const pagesByPath: Record<string, PlainView['page']> = {
  '/': 'landing',
  '/register': 'register',
  '/login': 'login',
  '/recover': 'recover',
  '/sso': 'sso',
  '/sso/link': 'sso',
  '/sso/confirm': 'sso',
  '/organization-keys': 'organization-keys',
  '/act': 'act',
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

const organizationPaths = [
  '/organizations',
  '/organizations/new',
  '/organizations/:organizationId',
  '/organizations/:organizationId/:section',
  '/invitations/:token',
]

/** The pages of the auth host that need nothing but themselves. */
export function siteRoutes(host: Host, pages: Pages, site: Site): void {
  const serve = serving(host, 'auth', pages, site)
  for (const [url, page] of Object.entries(pagesByPath)) serve(url, page)
  if (site.developers) for (const url of developerPaths) serve(url, 'developers')
}

/** The pages of organizations. They are the start of their host, where it has no other. */
export function businessSiteRoutes(host: Host, pages: Pages, site: Site): void {
  const serve = serving(host, 'business', pages, site)
  for (const url of organizationPaths) serve(url, 'business')
  if (!host.routes.has('GET', '/')) serve('/', 'business')
}

function serving(host: Host, name: 'auth' | 'business', pages: Pages, site: Site) {
  const config = { security: 'none', cors: 'no origin', host: name, page: true } as const
  return (url: string, page: PlainView['page']) =>
    host.route({ method: 'GET', url, config, handler: (_request, reply) => pages.show(reply, { page, site }) })
}

/** The built files of all pages, on each host that has any. */
export function assetRoutes(host: Host): void {
  host.register(serveStatic, {
    root: fileURLToPath(assetsFolder),
    prefix: '/assets/',
    index: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders(reply, path) {
      const named = /-[\w-]{8}\.\w+(\.br|\.gz)?$/.test(path)
      reply.header('cache-control', named ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
    },
  })
}
