import type {
  ConfigurationDocument,
  DeclaredApp,
  DeclaredGroup,
  DeclaredInvitation,
  DeclaredOrganization,
} from '@countersign/protocol/operations/configuration'
import { limits } from '@countersign/protocol/formats/limits'
import { isLanguage } from '@countersign/protocol/formats/registries/languages'
import type { ClientId } from '@countersign/protocol/ids'
import type { DeclaredSink } from '@countersign/protocol/operations/sinks'
import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { listGroups } from '#accounts/groups/group.ts'
import { listPendingMailed } from '#accounts/invitations/invitation.ts'
import { hasPermission } from '#accounts/operators/acting-operator.ts'
import { type Operator, operatorKeyOf } from '#accounts/operators/operator-guard.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { findWebhook } from '#clients/webhooks/endpoint.ts'
import { findOperatorApp, listOperatorApps } from '#clients/registration/operator-app.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { isOfThisService } from '#platform/pictures/picture.ts'
import { listSinkRows } from '#operations/sinks/sink.ts'
import { readStoredSettings } from '#platform/settings/setting.ts'
import { readParts } from './apps/parts.ts'
import { declarationOf, isGeneratedClientId } from './apps/app.ts'
import { declarationOf as declarationOfSink } from './sinks/sink.ts'
import * as store from './store.ts'

const errors = defineErrors({
  export_too_large: [
    409,
    `A document holds ${limits.appsPerDocumentMax} apps or organizations and ` +
      `${limits.invitationsListedPerDocumentMax} pending invitations. Export the objects of one source.`,
  ],
})

/** Source of a document with objects of all sources. It manages nothing until the document is applied. */
const ofAll = 'export'
const pageCount = 100

type Kernel = Pick<ServerContext, 'db' | 'config' | 'rateLimits'>

/**
 * Returns what the caller may read as a document, which applies without a change: all objects, or those of a source.
 * Throws `export_too_large`, `rate_limited`.
 */
export async function exportDocument(
  kernel: Kernel,
  { operator, source }: { operator: Operator; source: string | undefined },
  now: Date,
): Promise<ConfigurationDocument> {
  const { db, rateLimits } = kernel
  await rateLimits.count('configuration-exports-per-operator', operatorKeyOf(operator))
  const stored = hasPermission(operator, 'settings.read') ? (await readStoredSettings(db))?.stored : undefined
  // The logo is a picture, which a document cannot contain.
  const { 'branding.logo': _logo, ...settings } = stored ?? {}
  const groups = hasPermission(operator, 'groups.read') ? await readGroups(kernel, source) : []
  const apps = hasPermission(operator, 'apps.read') ? await readApps(kernel, source) : []
  const organizations = hasPermission(operator, 'organizations.read') ? await readOrganizations(kernel, source) : []
  const invitations = hasPermission(operator, 'people.invite') ? await readInvitations(kernel, source, now) : []
  const sinks = hasPermission(operator, 'sinks.manage') ? await readSinks(kernel, source) : []
  return {
    apiVersion: 'countersign/v1',
    source: source ?? ofAll,
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(groups.length > 0 && { groups }),
    ...(apps.length > 0 && { apps }),
    ...(organizations.length > 0 && { organizations }),
    ...(invitations.length > 0 && { invitations }),
    ...(sinks.length > 0 && { sinks }),
  }
}

async function readGroups({ db }: Kernel, source: string | undefined): Promise<DeclaredGroup[]> {
  const { groups } = await listGroups(db, { count: limits.groupsMax })
  const own = source === undefined ? undefined : await store.listObjects(db, source, 'group')
  return groups
    .filter(({ groupId, organizationId, managedBy }) =>
      own ? own.some((each) => each.groupId === groupId) : organizationId === null && managedBy === null,
    )
    .map(({ key, displayName, description, protected: isProtected }) => ({
      key,
      displayName,
      ...(description !== null && { description }),
      ...(isProtected && { protected: true }),
    }))
}

async function readApps(kernel: Kernel, source: string | undefined): Promise<DeclaredApp[]> {
  const { db, config } = kernel
  const isOwnPicture = (url: string) => isOfThisService(config.baseUrl, url)
  const declared: DeclaredApp[] = []
  const add = async (key: string, app: RegisteredApp) => {
    const parts = await readParts(db, app)
    const webhook = await findWebhook(db, app.clientId)
    declared.push(declarationOf(key, { app, parts, webhook }, isOwnPicture))
  }
  if (source === undefined) for (const app of await readAllApps(kernel)) await add(app.clientId, app)
  else
    for (const { key, clientId, deleteAt } of await store.listObjects(db, source, 'app')) {
      const app = clientId === null || deleteAt !== null ? undefined : await findOperatorApp(db, clientId)
      if (app) await add(key, app)
    }
  return declared
}

async function readAllApps({ db }: Kernel): Promise<RegisteredApp[]> {
  const found: RegisteredApp[] = []
  let after: ClientId | undefined
  do {
    const page = await listOperatorApps(db, { after, count: pageCount })
    found.push(...page.filter(({ clientId }) => isGeneratedClientId(clientId)))
    if (found.length > limits.appsPerDocumentMax) throw errors.export_too_large()
    after = page.length < pageCount ? undefined : page.at(-1)?.clientId
  } while (after !== undefined)
  return found
}

async function readSinks({ db }: Kernel, source: string | undefined): Promise<DeclaredSink[]> {
  const own = source === undefined ? undefined : await store.listObjects(db, source, 'sink')
  const rows = await listSinkRows(db)
  return rows
    .filter(({ sinkId }) => own?.some((each) => each.sinkId === sinkId && each.deleteAt === null) ?? true)
    .map(declarationOfSink)
}

/** Reads the organizations that a source manages, or any: users create the others. */
async function readOrganizations({ db }: Kernel, source: string | undefined): Promise<DeclaredOrganization[]> {
  const found = await store.listOrganizations(db, source, limits.organizationsPerDocumentMax + 1)
  if (found.length > limits.organizationsPerDocumentMax) throw errors.export_too_large()
  return found.map(({ slug, status }) => ({ slug, status }))
}

async function readInvitations({ db }: Kernel, source: string | undefined, now: Date): Promise<DeclaredInvitation[]> {
  const own = source === undefined ? undefined : await store.listObjects(db, source, 'invitation')
  const ids = own && new Set(own.map(({ invitationId }) => invitationId))
  const found: DeclaredInvitation[] = []
  let after: string | undefined
  do {
    const page = await listPendingMailed(db, { after, count: pageCount }, now)
    found.push(...page.invitations.filter(({ invitationId }) => ids?.has(invitationId) ?? true).flatMap(toDeclared))
    if (found.length > limits.invitationsListedPerDocumentMax) throw errors.export_too_large()
    after = page.last
  } while (after !== undefined)
  return found.toSorted((one, other) => (one.email < other.email ? -1 : 1))
}

function toDeclared({
  email,
  groups,
  language,
  handle,
  displayName,
  message,
}: AccountInvitation): DeclaredInvitation[] {
  if (email === null) return []
  const shown = {
    ...(groups.length > 0 && { groups: groups.toSorted() }),
    ...(isLanguage(language) && { language }),
    ...(handle !== null && { handle }),
    ...(displayName !== null && { displayName }),
    ...(message !== null && { message }),
  }
  return [{ email, ...shown }]
}
