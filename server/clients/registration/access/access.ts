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

/** Contact of an app that an identity may not use, if the app has one. */
export type DeniedAccess = Pick<AppAccess, 'contact'>

/** Finds the contact of an app that an identity may not use now, or undefined if it may. Reads the app's access too. */
export async function findDeniedAccess(
  db: Database | Transaction,
  clientId: ClientId,
  identityId: IdentityId,
): Promise<DeniedAccess | undefined> {
  const app = await store.findAccess(db, clientId)
  if (app && (await hasAccess(db, app, identityId))) return undefined
  return { contact: app?.access.contact ?? null }
}

/** Throws `app_access_denied` like `requireAccess`, for an app whose access is read too. */
export async function requireAccessTo(
  db: Database | Transaction,
  clientId: ClientId,
  identityId: IdentityId,
): Promise<void> {
  const denied = await findDeniedAccess(db, clientId, identityId)
  if (denied) throw deniedError(denied)
}

/** Throws `app_access_denied` with the contact, and without what is missing, if an identity may not use an app. */
export async function requireAccess(
  db: Database | Transaction,
  app: { access: AppAccess },
  identityId: IdentityId,
): Promise<void> {
  if (!(await hasAccess(db, app, identityId))) throw deniedError(app.access)
}

function deniedError({ contact }: DeniedAccess) {
  return errors.app_access_denied(contact === null ? {} : { fields: { contact } })
}
