import { narrowerAccess, type OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import type { Database } from '#platform/database/database.ts'
import type { Access } from '#tokens/families/access-token.ts'
import * as membersStore from '#organizations/members/store.ts'

/**
 * How far an access token reaches into the organizations of its user: as the user chose when they connected the app,
 * within what the app has registered by now. A token that the provider of an organization alone vouches for is for that
 * organization, which the user chose to use the app for: it is read without a further choice.
 */
export async function organizationAccessOf(
  db: Database,
  app: Pick<RegisteredApp, 'organizationAccess'>,
  { identityId, clientId, byProviderAlone }: Pick<Access, 'identityId' | 'clientId' | 'byProviderAlone'>,
): Promise<OrganizationAccess> {
  if (app.organizationAccess === 'none') return 'none'
  if (byProviderAlone) return 'read'
  const chosen = await membersStore.findOrganizationAccess(db, identityId, clientId)
  return narrowerAccess(chosen ?? 'none', app.organizationAccess)
}
