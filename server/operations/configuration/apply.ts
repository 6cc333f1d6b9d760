import type { ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { ResourceDirectory } from '#clients/resources/settings.ts'
import { mailChange } from '#operations/sinks/change-mail.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { applyApps, pruneApps } from './apps/app.ts'
import { applyGroups, pruneGroups } from './groups.ts'
import { applyInvitations, countInviting, pruneInvitations } from './invitations.ts'
import { applyOrganizations } from './organizations/organization.ts'
import { type Applying, type Change, planChangedError } from './plan.ts'
import { withProtection } from './protection.ts'
import { applySettings } from './settings.ts'
import { announceChanges, applySinks, changedSinks, pruneSinks } from './sinks/sink.ts'

const errors = defineErrors({
  confirmation_required: [409, 'This deletes many objects. Send their number as confirm.'],
})

export type Services = { kernel: ServerContext; apps: AppDirectory; resources: ResourceDirectory }

export type Request = {
  operator: Operator
  browserLanguage: Language
  document: ConfigurationDocument
  dryRun?: boolean | undefined
  digest?: string | undefined
  prune?: boolean | undefined
  adopt?: boolean | undefined
  confirm?: number | undefined
}

export type Plan = { changes: Change[]; digest: string }

/** Ends the transaction of a dry run, so that it changes nothing. */
class DryRun extends Error {
  readonly plan: Plan

  constructor(plan: Plan) {
    super('dry run')
    this.plan = plan
  }
}

/**
 * Applies a document in one transaction, by the functions of the single endpoints and with their permissions. A dry run
 * does the same and undoes it: what it shows is what happens. Throws what these functions throw, with the object, and
 * `managed_elsewhere`, `plan_changed`, `confirmation_required`, `rate_limited`.
 */
export async function applyDocument(services: Services, request: Request, now: Date): Promise<Plan> {
  const { kernel } = services
  const { operator, document, dryRun = true } = request
  const { invitations, groups } = document
  await countPlan(kernel, request)
  if (!dryRun && invitations) await countInviting(kernel, request, { invitations, groups })
  if (dryRun || !document.sinks) return applyAtOnce(services, request, now)
  // Sinks hear of their change before it is made. A transaction does not wait for them.
  const planned = await applyAtOnce(services, { ...request, dryRun: true }, now)
  requireShown(planned, request)
  const announced = await announceChanges(kernel, operator, planned.changes)
  const plan = await applyAtOnce(services, { ...request, digest: planned.digest, announced }, now)
  for (const key of changedSinks(plan.changes)) await mailChange(kernel, key, kernel.clock())
  return plan
}

const objectsPerPoint = 100

/**
 * Counts a plan by the objects of its document, whose changes one connection of the database makes one after the other,
 * and undoes in a dry run. Throws `rate_limited`.
 */
async function countPlan({ rateLimits }: ServerContext, { operator, document }: Request): Promise<void> {
  const { settings = {}, groups, apps, organizations, invitations, sinks } = document
  const lists = [Object.keys(settings), groups, apps, organizations, invitations, sinks]
  const objects = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0)
  for (let counted = 0; counted <= objects; counted += objectsPerPoint)
    await rateLimits.count('configuration-plans-per-operator', operatorKeyOf(operator))
}

type Announced = Pick<Applying, 'announced'>

async function applyAtOnce(services: Services, request: Request & Announced, now: Date): Promise<Plan> {
  const { operator, document, dryRun = true, adopt = false, announced } = request
  try {
    return await operatorTransaction(services.kernel.db, operator, async (tx) => {
      const applying = { ...services, tx, operator, source: document.source, adopt, announced, now }
      const changes = await change(applying, request)
      const plan = { changes, digest: digestOf(changes, request) }
      if (dryRun) throw new DryRun(plan)
      requireShown(plan, request)
      await record(applying, changes)
      return plan
    })
  } catch (error) {
    if (error instanceof DryRun) return error.plan
    throw error
  }
}

/** Makes all changes. What others name comes first: groups before apps and invitations. */
async function change(applying: Applying, { document, prune = false, browserLanguage }: Request): Promise<Change[]> {
  const { settings, groups, apps, organizations, invitations, sinks } = document
  const first = [
    ...(settings ? await applySettings(applying, settings) : []),
    ...(groups ? await applyGroups(applying, groups) : []),
  ]
  const declared = { groups: groups ?? [], apps: apps ?? [] }
  const changes = [
    ...(await withProtection(applying, declared, first, async () => (apps ? applyApps(applying, apps) : []))),
    ...(organizations ? await applyOrganizations(applying, organizations) : []),
    ...(invitations ? await applyInvitations(applying, invitations, browserLanguage) : []),
    ...(sinks ? await applySinks(applying, sinks) : []),
  ]
  if (!prune) return changes
  return [
    ...changes,
    ...(sinks ? await pruneSinks(applying, sinks) : []),
    ...(invitations ? await pruneInvitations(applying, invitations) : []),
    ...(apps ? await pruneApps(applying, apps) : []),
    ...(groups ? await pruneGroups(applying, groups) : []),
  ]
}

function digestOf(changes: Change[], { document: { source }, prune = false, adopt = false }: Request): string {
  return sha256(writeCanonicalJson({ source, prune, adopt, changes })).toString('hex')
}

/** Throws `plan_changed` if another plan was shown, and `confirmation_required` for many deletions. */
function requireShown({ changes, digest }: Plan, { digest: shown, confirm }: Request): void {
  if (shown !== undefined && shown !== digest) throw planChangedError()
  const count = changes.filter(({ action }) => action === 'delete').length
  if (count > limits.unconfirmedDeletionsMax && confirm !== count)
    throw errors.confirmation_required({
      sentence: `This deletes ${count} objects. Send confirm with this number.`,
      fields: { count },
    })
}

/** Records that a document was applied, and what it did to which objects. Their own events have the details. */
async function record({ tx, operator, source, now }: Applying, changes: Change[]): Promise<void> {
  const made = changes.filter(({ action }) => action !== 'none')
  if (made.length === 0) return
  const counts = Object.groupBy(made, ({ action }) => action)
  const details = {
    source,
    ...Object.fromEntries(Object.entries(counts).map(([action, each]) => [action, each.length])),
  }
  await recordAuditEvent(tx, { action: 'configuration.applied', ...auditFieldsOf(operator), details }, now)
}
