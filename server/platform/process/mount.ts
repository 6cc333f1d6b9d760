import { accountRoutes } from '#accounts/account/routes.ts'
import { appRoutes } from '#clients/registration/routes.ts'
import { createAppDirectory } from '#clients/registration/app-directory.ts'
import { auditRoutes, organizationAuditRoutes } from '#operations/audit/routes.ts'
import { authorizationRoutes } from '#oauth/consents/routes.ts'
import { delegationRoutes } from '#oauth/delegation/routes.ts'
import { encryptionRoutes } from '#accounts/keys/routes.ts'
import { federatedPages, federatedRoutes, siteProviderRoute } from '#oauth/fedcm/routes.ts'
import { identityRoutes } from '#accounts/identities/routes.ts'
import { backupRoutes } from '#operations/backup/routes.ts'
import { createAdmission } from '#platform/http/admission.ts'
import type { Storage } from '#platform/database/database.ts'
import { createHost, type Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import type { Refusal } from '#platform/refusal.ts'
import { oversightRoutes } from '#organizations/members/oversight-routes.ts'
import { domainRoutes } from '#organizations/domains/routes.ts'
import { keyRoutes } from '#organizations/keys/routes.ts'
import { organizationRoutes, workspaceRoutes } from '#organizations/members/routes.ts'
import { discoveryRedirects, discoveryRoutes, oauthRoutes, pageRoutes } from '#oauth/authorize/routes.ts'
import type { TokenEndpoint } from '#oauth/token/endpoint.ts'
import { passkeyDiscovery, passkeyRoutes } from '#accounts/passkeys/routes.ts'
import { ensurePlayground } from '#operations/playground/playground.ts'
import { demoSigningRoutes, playgroundRoutes } from '#operations/playground/routes.ts'
import { signingPageRoutes, signingRoutes } from '#signing/keys/routes.ts'
import { ssoConnectionRoutes } from '#sso/connections/routes.ts'
import { ssoRoutes } from '#sso/sign-in/routes.ts'
import { openRedeeming } from '#tokens/families/family.ts'
import { signingKeyRoutes } from '#tokens/signing-keys/routes.ts'
import { openSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { beginLog } from '#signing/transparency/log.ts'
import { transparencyRoutes } from '#signing/transparency/routes.ts'
import { webhookRoutes } from '#clients/webhooks/routes.ts'
import { createReadiness, probeRoutes } from './probes.ts'
import { referenceRoutes } from './reference.ts'
import { assetRoutes, businessSiteRoutes, siteRoutes } from './site.ts'

/** The three hosts. Two that share an origin are one and the same. */
export type Hosts = { api: Host; auth: Host; business: Host }

/** Makes the hosts and mounts every capability where it answers. Whatever is on another host answers 421 here. */
export async function mountHosts(kernel: Kernel, storage: Pick<Storage, 'ping'>, pages: Pages): Promise<Hosts> {
  const { config } = kernel
  await ensurePlayground(kernel)
  const apps = createAppDirectory(kernel)
  const keys = await openSigningKeys(kernel)
  await beginLog(kernel, kernel.clock())
  const provider = { kernel, apps, keys, redeeming: openRedeeming(kernel) }
  const site = siteOf(config)
  const admission = createAdmission()

  const byOrigin = new Map<string, Host>()
  const hostAt = (origin: URL): Host => {
    const known = byOrigin.get(origin.origin)
    if (known) return known
    const host = createHost(kernel, {
      origin,
      admission,
      origins: { pages: [config.authUrl.origin, config.businessUrl.origin], isRegistered: apps.hasRedirectOrigin },
      elsewhere: (path) => [...byOrigin].find(([, other]) => other !== host && other.routes.at(path).size > 0)?.[0],
      errorPage: (reply, refusal, requestId) =>
        pages.show(reply, { page: 'error', site, ...toError(refusal), requestId }),
    })
    byOrigin.set(origin.origin, host)
    return host
  }
  const hosts = { api: hostAt(config.baseUrl), auth: hostAt(config.authUrl), business: hostAt(config.businessUrl) }

  const isReady = createReadiness(storage.ping)
  for (const host of byOrigin.values()) {
    probeRoutes(host, isReady)
    siteProviderRoute(host, kernel)
  }
  identityRoutes(hosts.api, kernel)
  appRoutes(hosts.api, kernel, apps)
  webhookRoutes(hosts.api, kernel)
  signingKeyRoutes(hosts.api, kernel, keys)
  workspaceRoutes(hosts.api, provider)
  oversightRoutes(hosts.api, kernel)
  organizationRoutes(hosts.business, kernel)
  domainRoutes(hosts.business, kernel)
  keyRoutes(hosts.business, { kernel, keys })
  delegationRoutes(hosts.api, kernel)
  authorizationRoutes(hosts.api, kernel)
  transparencyRoutes(hosts.api, kernel)
  signingRoutes(hosts.api, { kernel, apps })
  encryptionRoutes(hosts.api, { kernel, apps })
  oauthRoutes(hosts.api, provider)
  ssoRoutes(hosts.api, kernel, pages)
  federatedRoutes(hosts.api, provider)
  ssoConnectionRoutes(hosts.business, kernel)
  passkeyRoutes(hosts.api, kernel, keys)
  auditRoutes(hosts.api, kernel)
  organizationAuditRoutes(hosts.business, kernel)
  accountRoutes(hosts.api, kernel, apps)
  backupRoutes(hosts.api, { kernel, keys })
  await referenceRoutes(hosts.api, config)
  if (hosts.api !== hosts.auth) discoveryRedirects(hosts.api, config.authUrl)

  for (const host of byOrigin.values()) assetRoutes(host)
  mountPages(hosts, provider, pages)
  discoveryRoutes(hosts.auth, provider)
  passkeyDiscovery(hosts.auth, config)
  if (config.demo) demoSigningRoutes(hosts.api, kernel)

  await Promise.all([...byOrigin.values()].map((host) => host.ready()))
  return hosts
}

/** The pages for people. The API has those too where a browser that was sent to it can't go on. */
function mountPages(hosts: Hosts, provider: TokenEndpoint, pages: Pages): void {
  const { kernel, apps } = provider
  const site = siteOf(kernel.config)
  siteRoutes(hosts.auth, pages, site)
  businessSiteRoutes(hosts.business, pages, site)
  pageRoutes(hosts.auth, provider, pages)
  signingPageRoutes(hosts.auth, { kernel, apps }, pages)
  federatedPages(hosts.api, kernel, pages)
  if (kernel.config.demo) playgroundRoutes(hosts.auth, kernel, pages)
}

/** What the error page shows of a refusal. */
function toError({ code, message, fields }: Refusal) {
  const { client_id: clientId, redirect_uri: redirectUri } = fields
  const sent = typeof clientId === 'string' && typeof redirectUri === 'string' ? { clientId, redirectUri } : undefined
  return { error: code, description: message, ...(sent && { sent }) }
}
