import { performance } from 'node:perf_hooks'
import * as endpoints from '@countersign/protocol/operations'
import type { Config } from '#platform/config/config.ts'
import type { Storage } from '#platform/database/database.ts'
import type { Host, Hosts } from '#platform/http/host.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Module } from '#platform/module/define-module.ts'
import type { StaticView } from '@countersign/protocol/pages'
import { type Pages, siteSettings } from '#platform/http/page.ts'

const errors = defineErrors({ temporarily_unavailable: [503, 'The database is not reachable.'] })

/** Cache duration of the database check, because monitors ask every few seconds. */
const goodMilliseconds = 1000

/** Creates the readiness check. Concurrent callers share one database query, and its result is valid for a second. */
export function createReadiness(ping: Storage['ping']): () => Promise<void> {
  let last: { answer: Promise<void>; goodUntil: number } | undefined
  return () => {
    if (last && performance.now() < last.goodUntil) return last.answer
    const mine = { answer: ping(), goodUntil: Infinity }
    last = mine
    const settle = () => void (mine.goodUntil = performance.now() + goodMilliseconds)
    mine.answer.then(settle, settle)
    return mine.answer
  }
}

/** Registers `/healthz` and `/readyz` on a host, for monitoring. */
export function probeRoutes(host: Host, isReady: () => Promise<void>): void {
  host.route({ ...endpoints.healthz, handler: () => ({ status: 'ok' as const }) })

  host.route({
    ...endpoints.readyz,
    async handler() {
      await isReady().catch(() => {
        throw errors.temporarily_unavailable({ headers: { 'retry-after': '2' }, fault: 'database_unavailable' })
      })
      return { status: 'ready' as const }
    },
  })
}

type PageModules = readonly Pick<Module<never>, 'pages'>[]

/** Registers the static pages of the modules. Organizations are the start page of their host if it has no other. */
export function siteRoutes(hosts: Hosts, modules: PageModules, pages: Pages, config: Config): void {
  const site = siteSettings(config)
  const serve = (name: 'auth' | 'business', url: string, page: StaticView['page']) =>
    hosts[name].route({
      method: 'GET',
      url,
      config: { security: 'none', cors: 'no origin', host: name, page: true },
      handler: (_request, reply) => pages.show(reply, { page, site }),
    })
  serve('auth', '/', 'landing')
  // Only development has this page.
  if (pages.assets.filesOf('design')) serve('auth', '/design', 'design')
  for (const module of modules) {
    const { auth = {}, business = {} } = module.pages?.(config) ?? {}
    for (const [url, page] of Object.entries(auth)) serve('auth', url, page)
    for (const [url, page] of Object.entries(business)) serve('business', url, page)
  }
  if (!hosts.business.routes.has('GET', '/')) serve('business', '/', 'business')
}
