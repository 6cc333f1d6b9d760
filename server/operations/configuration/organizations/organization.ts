import { normalizeDomain } from '@countersign/protocol/formats/domain'
import type { DeclaredOrganization } from '@countersign/protocol/operations/configuration'
import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { isVerifiedFor } from '#organizations/domains/domain.ts'
import { findOrganizationsBySlug, setStatus } from '#organizations/members/operator-view.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Transaction } from '#platform/database/database.ts'
import {
  actionOn,
  type Applying,
  type Change,
  claim,
  definedValues,
  differences,
  naming,
  requireDistinct,
} from '../plan.ts'
import * as store from '../store.ts'

const errors = defineErrors({
  organization_not_found: [404, 'No organization has this slug. Its owner creates it, not a document.'],
  organization_differs: [409, 'The organization with this slug is not the one that the document means.'],
})

/**
 * Changes what operators can change of the declared organizations: whether they are suspended. Their name and domains
 * are changed by their members alone, so that those of a document are only compared. Throws `organization_not_found`,
 * `organization_differs`, `managed_elsewhere` and as `setStatus`.
 */
export async function applyOrganizations(applying: Applying, declared: DeclaredOrganization[]): Promise<Change[]> {
  const { tx, operator } = applying
  requirePermissions(operator, ['organizations.manage'])
  const slugs = declared.map(({ slug }) => slug)
  requireDistinct(slugs)
  const found = new Map((await findOrganizationsBySlug(tx, slugs)).map((each) => [each.slug, each]))
  const managed = await store.findByOrganization(
    tx,
    [...found.values()].map(({ organizationId }) => organizationId),
  )
  const changes: Change[] = []
  for (const organization of declared) {
    const existing = found.get(organization.slug)
    const managedBy = managed.find(({ organizationId }) => organizationId === existing?.organizationId)?.source
    const object = `organizations/${organization.slug}`
    changes.push({
      object,
      ...(await naming(object, () => changeOrganization(applying, organization, { existing, managedBy }))),
    })
  }
  return changes
}

type Found = { existing: AdminOrganization | undefined; managedBy: string | undefined }

async function changeOrganization(
  applying: Applying,
  declared: DeclaredOrganization,
  { existing, managedBy }: Found,
): Promise<Omit<Change, 'object'>> {
  const { tx, operator, now } = applying
  const { slug, status } = declared
  if (!existing) throw errors.organization_not_found()
  await requireSame(tx, declared, existing)
  const { organizationId } = existing
  const fields = differences({ status: existing.status }, definedValues({ status }))
  const action = actionOn(applying, managedBy, fields)
  if (status !== undefined && fields.length > 0) await setStatus(tx, operator, { organizationId, status }, now)
  if (action === 'adopt') await claim(applying, { kind: 'organization', key: slug, organizationId })
  return { action, fields }
}

/** Throws `organization_differs` if another organization has the slug than the one that a document describes. */
async function requireSame(
  tx: Transaction,
  { name, domains = [] }: DeclaredOrganization,
  { organizationId, name: actual }: AdminOrganization,
): Promise<void> {
  if (name !== undefined && name !== actual)
    throw errors.organization_differs({ sentence: 'The organization with this slug has another name.' })
  for (const domain of domains) {
    const normalized = normalizeDomain(domain)
    if (normalized === undefined || !(await isVerifiedFor(tx, organizationId, normalized)))
      throw errors.organization_differs({ sentence: `The organization with this slug has not verified ${domain}.` })
  }
}
