import type { AppChange } from '@countersign/protocol/clients/apps'
import { isShown } from '@countersign/protocol/formats/display-name'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { type GroupRef, requireGroups } from '#accounts/groups/group.ts'
import { isMemberOfAny } from '#accounts/groups/member.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './access-store.ts'

/** Organization that an app names, with the slug that it has now. */
export type OrganizationRef = { organizationId: OrganizationId; slug: string }

/**
 * Who may use an app: everyone, the members of its groups and organizations, or no one. `contact` is shown to those who
 * may not.
 */
export type AppAccess = {
  mode: 'everyone' | 'restricted' | 'none'
  contact: string | null
  groups: GroupRef[]
  organizations: OrganizationRef[]
}

/** Members of the access of an app that a request changes. It names groups by key, and organizations by slug. */
export type AccessChange = NonNullable<AppChange['access']>

const errors = defineErrors({
  invalid_request: [400, 'contact contains an invisible character.'],
  organization_not_found: [404, 'No organization has one of these slugs.'],
  app_access_denied: [403, 'The identity has no access to this app.'],
})

/**
 * Returns the access of an app after a change. Throws `invalid_request`, `group_not_found` or `organization_not_found`.
 */
export async function changedAccess(
  tx: Transaction,
  before: AppAccess,
  { mode = before.mode, contact = before.contact, groups: keys, organizations: slugs }: AccessChange,
): Promise<AppAccess> {
  if (contact !== null && !isShown(contact)) throw errors.invalid_request()
  const groups = keys ? await requireGroups(tx, keys) : before.groups
  return { mode, contact, groups, organizations: slugs ? await requireOrganizations(tx, slugs) : before.organizations }
}

/** Lists the organizations that have these slugs. Throws `organization_not_found`, which names an unknown slug. */
async function requireOrganizations(tx: Transaction, slugs: string[]): Promise<OrganizationRef[]> {
  if (slugs.length === 0) return []
  const found = await store.listOrganizations(tx, slugs)
  const missing = slugs.find((each) => !found.some(({ slug }) => slug === each))
  if (missing !== undefined)
    throw errors.organization_not_found({ sentence: `No organization has the slug ${missing}.` })
  return found
}

/** Stores the groups that an app names. The caller has locked the app. */
export function replaceGroups(tx: Transaction, clientId: ClientId, { groups }: AppAccess): Promise<void> {
  return store.replaceGroups(
    tx,
    clientId,
    groups.map(({ groupId }) => groupId),
  )
}

/**
 * Tells if an identity may use an app now. A restricted app whose groups and organizations are gone is closed to
 * everyone.
 */
export async function hasAccess(
  db: Database | Transaction,
  { access: { mode, groups, organizations } }: { access: AppAccess },
  identityId: IdentityId,
): Promise<boolean> {
  if (mode !== 'restricted') return mode === 'everyone'
  if (await isMemberOfAny(db, identityId, groups)) return true
  const organizationIds = organizations.map(({ organizationId }) => organizationId)
  return organizationIds.length > 0 && store.isInAnyOrganization(db, identityId, organizationIds)
}

/** Tells if an identity may use an app now. Reads the access of the app too. */
export async function hasAccessTo(
  db: Database | Transaction,
  clientId: ClientId,
  identityId: IdentityId,
): Promise<boolean> {
  const app = await store.findAccess(db, clientId)
  return app !== undefined && hasAccess(db, app, identityId)
}

/** Throws `app_access_denied` with the contact, and without what is missing, if an identity may not use an app. */
export async function requireAccess(
  db: Database | Transaction,
  app: { access: AppAccess },
  identityId: IdentityId,
): Promise<void> {
  const { contact } = app.access
  if (!(await hasAccess(db, app, identityId)))
    throw errors.app_access_denied(contact === null ? {} : { fields: { contact } })
}
