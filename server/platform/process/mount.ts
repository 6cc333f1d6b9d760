import { loadBuiltPages } from '#platform/documentation/built-pages.ts'
import { helpRoutes } from '#platform/documentation/help.ts'
import { createAdmission } from '#platform/http/admission.ts'
import type { Origins } from '#platform/http/cors.ts'
import type { Storage } from '#platform/database/database.ts'
import { type Host, type Hosts, createHost, everyHost } from '#platform/http/host.ts'
import type { Module } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import type { ApiError } from '#platform/api-error.ts'
import { createReadiness, probeRoutes, siteRoutes } from './site.ts'
import { developmentMailRoutes } from './development-mail.ts'
import { apiReferenceRoutes } from './openapi.ts'

type Mounted<Services> = {
  modules: readonly Module<Services>[]
  services: Services & { kernel: ServerContext; pages: Pages }
  /** Checks whether an app has a redirect URI of an origin. */
  isRegistered: Origins['isRegistered']
  ping: Storage['ping']
}

/**
 * Creates the hosts and mounts every module on its host. Paths of another host answer 421, or redirect browsers to a
 * page.
 */
export async function mountHosts<Services>({ modules, services, ...of }: Mounted<Services>): Promise<Hosts> {
  const { kernel, pages } = services
  const { config } = kernel
  const hosts = createHosts(kernel, pages, of.isRegistered)
  const all = everyHost(hosts)

  const isReady = createReadiness(of.ping)
  for (const host of all) {
    probeRoutes(host, isReady)
    pages.assets.mountOn(host)
  }
  const documents = await loadBuiltPages(config, pages)
  apiReferenceRoutes(hosts.api, config, documents)
  for (const module of modules) module.mount?.(hosts, services)
  siteRoutes(hosts, modules, pages, config)
  helpRoutes(hosts.auth, documents)
  developmentMailRoutes(hosts.auth, { config, pages, mail: kernel.mail })

  await Promise.all([...all].map((host) => host.ready()))
  return hosts
}

function createHosts(kernel: ServerContext, pages: Pages, isRegistered: Origins['isRegistered']): Hosts {
  const { config } = kernel
  const site = siteSettings(config)
  const admission = createAdmission()
  const byOrigin = new Map<string, Host>()
  const hostAt = (origin: URL): Host => {
    const known = byOrigin.get(origin.origin)
    if (known) return known
    const host = createHost(kernel, {
      origin,
      admission,
      origins: {
        authHost: config.authUrl.origin,
        pages: [config.authUrl.origin, config.businessUrl.origin],
        isRegistered,
      },
      elsewhere(path) {
        const right = [...byOrigin].find(([, other]) => other !== host && other.routes.at(path).size > 0)
        return right && { origin: right[0], routes: right[1].routes }
      },
      errorPage: (reply, refusal, requestId) =>
        pages.show(reply, { page: 'error', site, ...toError(refusal), requestId }),
    })
    byOrigin.set(origin.origin, host)
    return host
  }
  return { api: hostAt(config.baseUrl), auth: hostAt(config.authUrl), business: hostAt(config.businessUrl) }
}

/** Returns the fields of an error for the error page. */
function toError({ code, message, fields, headers }: ApiError) {
  const { client_id: clientId, redirect_uri: redirectUri } = fields
  const sent = typeof clientId === 'string' && typeof redirectUri === 'string' ? { clientId, redirectUri } : undefined
  const { app_name: name, app_website: websiteUrl = null } = fields
  const isNamed = typeof name === 'string' && (websiteUrl === null || typeof websiteUrl === 'string')
  const app = isNamed ? { name, websiteUrl } : undefined
  const retryAfterSeconds = Number(headers['retry-after'])
  return {
    error: code,
    description: message,
    ...(retryAfterSeconds && { retryAfterSeconds }),
    ...(sent && { sent }),
    ...(app && { app }),
  }
}
