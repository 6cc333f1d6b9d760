import type { RecoveredPasskeys } from '#accounts/passkeys/assertion.ts'
import { recoveredPasskeys } from '#accounts/recovery-links/limit.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import { createAppDirectory, type AppDirectory } from '#clients/registration/directory.ts'
import { createResourceDirectory, type ResourceDirectory } from '#clients/resources/settings.ts'
import { createUsageCounter, type UsageCounter } from '#clients/usage/usage.ts'
import type { Storage } from '#platform/database/database.ts'
import type { Hosts } from '#platform/http/host.ts'
import type { Pages } from '#platform/http/page.ts'
import type { Background, ExportParts, MetadataPart, Module, RegistrationPart } from '#platform/module/define-module.ts'
import { type BrandLogo, renderBrandLogo } from '#platform/pictures/brand-logo.ts'
import { createWorkshop, type Workshop } from '#platform/pictures/workshop.ts'
import { createLifecycle, type Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { mountHosts } from '#platform/process/mount.ts'
import { sessionLifecycle } from '#tokens/families/session.ts'
import { prepareTokenStatements, type TokenStatements } from '#tokens/families/family.ts'
import { loadTokenSigningKeys, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import type { OldKeyRequests } from '#signing/keys/rotation.ts'
import { expirePending } from '#signing/requests/identities/request.ts'
import { createStatusWaiter, type StatusWaiter } from '#signing/requests/status-waiter.ts'
import { createPerformers, type Performers } from '#organizations/acts/performance.ts'
import type { Signable } from '#organizations/acts/signable.ts'
import { backedUpTables, endOrder, modules } from './modules.ts'

/** What the modules use of each other, each created once in a process. */
export type Services = {
  kernel: ServerContext
  pages: Pages
  workshop: Workshop
  brandLogo: BrandLogo | undefined
  apps: AppDirectory
  resources: ResourceDirectory
  usage: UsageCounter
  keys: SigningKeys
  redeeming: TokenStatements
  statusWaiter: StatusWaiter
  oldKeyRequests: OldKeyRequests
  lifecycle: Lifecycle
  exportParts: readonly ExportParts[]
  registrationParts: readonly RegistrationPart[]
  metadataParts: readonly MetadataPart[]
  sessions: SessionLifecycle
  recoveredPasskeys: RecoveredPasskeys
  performers: Performers
  backedUpTables: readonly string[]
}

const mounted: readonly Module<Services>[] = modules
const signables: readonly Signable<Services>[] = modules.flatMap((module): readonly Signable<Services>[] =>
  'acts' in module ? module.acts : [],
)

/** Initializes the modules and creates the services. Throws `ConfigError` if the logo of the operator is unusable. */
export async function openServices(
  kernel: ServerContext,
  pages: Pages,
  workshop: Workshop = createWorkshop(),
): Promise<Services> {
  for (const { initialize } of mounted) await initialize?.(kernel)
  const statusWaiter = createStatusWaiter(kernel)
  const services: Services = {
    kernel,
    pages,
    workshop,
    brandLogo: await renderBrandLogo(kernel.config, workshop),
    apps: createAppDirectory(kernel),
    resources: createResourceDirectory(kernel),
    usage: createUsageCounter(kernel),
    keys: await loadTokenSigningKeys(kernel),
    redeeming: prepareTokenStatements(kernel),
    statusWaiter,
    oldKeyRequests: { expirePending, settled: statusWaiter.settled },
    lifecycle: createLifecycle(mounted, endOrder, () => services),
    exportParts: mounted.flatMap(({ exported }) => exported ?? []),
    metadataParts: mounted.flatMap(({ metadata }) => metadata ?? []),
    registrationParts: mounted.flatMap(({ registered }) => registered ?? []),
    sessions: sessionLifecycle,
    recoveredPasskeys,
    performers: createPerformers(signables, () => services),
    backedUpTables,
  }
  return services
}

/** Creates the hosts with the routes of all modules. */
export function mountModules(services: Services, { ping }: Pick<Storage, 'ping'>): Promise<Hosts> {
  return mountHosts({ modules: mounted, services, ping, isRegistered: services.apps.hasRedirectOrigin })
}

/** Starts the work that runs as long as this process. */
export function startBackground(services: Services): Background[] {
  return mounted.flatMap(({ background }) => background?.(services) ?? [])
}
