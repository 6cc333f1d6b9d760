import { narrowerAccess, type OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import type { Database } from '#platform/database/database.ts'
import type { AccessTokenRecord } from '#tokens/families/access-token.ts'
import * as store from './store.ts'

/**
 * Returns the organization access of an access token. It is the user's choice when connecting the app, limited to the
 * app's current registration. A token from an SSO-only session is limited to its organization. The user chose that
 * organization for the app, so reading it needs no further choice.
 */
export async function organizationAccessOf(
  db: Database,
  app: Pick<RegisteredApp, 'organizationAccess'>,
  { identityId, clientId, byProviderAlone }: Pick<AccessTokenRecord, 'identityId' | 'clientId' | 'byProviderAlone'>,
): Promise<OrganizationAccess> {
  if (app.organizationAccess === 'none') return 'none'
  if (byProviderAlone) return 'read'
  const chosen = await store.findOrganizationAccess(db, identityId, clientId)
  return narrowerAccess(chosen ?? 'none', app.organizationAccess)
}
