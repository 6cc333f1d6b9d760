import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { RecoveredSession, Session } from '#accounts/sessions/session.ts'
import { listOrganizationChoices } from '#organizations/membership/context.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { findConsentedUse } from './store.ts'

type Connection = { identityId: IdentityId; clientId: ClientId }

/** Lists the organizations for which an identity can use an app in this session, and what each requires first. */
export async function listChoicesInSession(
  kernel: Pick<ServerContext, 'db' | 'config'>,
  session: Session | RecoveredSession,
  of: Connection,
  now: Date,
): Promise<OrganizationChoice[]> {
  if (session.authMethod === 'recovered_passkey') return []
  const choices = await listOrganizationChoices(kernel, session, of, now)
  const marked = choices.map(async (choice) => {
    const isRequired = await requiresPasskey(kernel.db, session, { ...of, organizationId: choice.id })
    return isRequired ? { ...choice, passkeyRequired: true as const } : choice
  })
  return Promise.all(marked)
}

/**
 * Returns whether this session, opened by SSO, cannot sign in to an app for an organization: the user has connected the
 * app with their passkey, but never for the organization. Otherwise the provider of an organization could enter the
 * account that a member has at an app for themselves.
 */
export async function requiresPasskey(
  db: Database,
  { authMethod }: Pick<Session | RecoveredSession, 'authMethod'>,
  { identityId, clientId, organizationId }: Connection & { organizationId: OrganizationId },
): Promise<boolean> {
  if (authMethod !== 'enterprise_sso') return false
  const use = await findConsentedUse(db, identityId, clientId)
  // A consent in a session that SSO opened records no scopes.
  return use !== undefined && use.scope.length > 0 && !use.organizationIds.includes(organizationId)
}
