import type { AccountExport } from '@countersign/protocol/account'
import { listApps, toApp } from '#apps/app.ts'
import { listActivity } from '#audit/activity.ts'
import { listAuthorizations, listGrants } from '#authorizations/authorization.ts'
import { listDelegations, listUses } from '#delegation/grant.ts'
import { readIdentityKey } from '#encryption/identity-key.ts'
import { listKeyWraps } from '#encryption/key-wrap.ts'
import { recoverySince } from '#encryption/recovery.ts'
import { readUnprovedEmail } from '#identity/email.ts'
import { listFormerHandles } from '#identity/handle.ts'
import { listIdentities, personSince } from '#identity/identity.ts'
import type { Database } from '#kernel/database.ts'
import { exportMemberships } from '#organizations/organization.ts'
import { listPasskeys } from '#passkeys/passkey.ts'
import { listSessions, type Session } from '#sessions/session.ts'
import { listSigningKeys } from '#signing/key.ts'
import { listOrganizationSignatures } from '#signing/organization-request.ts'
import { listAllRequests } from '#signing/request.ts'
import { findWebhook } from '#webhooks/endpoint.ts'

type ExportedIdentity = AccountExport['identities'][number]

/** Everything that the service holds about a person, but the hashes that it checks secrets by. */
export async function exportAccount(db: Database, session: Session, now: Date): Promise<AccountExport> {
  const { userId } = session
  const identities: ExportedIdentity[] = []
  for (const identity of await listIdentities(db, userId)) {
    const { identityId } = identity
    identities.push({
      ...identity,
      unprovedEmail: await readUnprovedEmail(db, identityId, now),
      formerHandles: await listFormerHandles(db, identityId, now),
      signingKeys: await listSigningKeys(db, identityId),
      encryptionKey: await readIdentityKey(db, identityId),
      signingRequests: await listAllRequests(db, identityId),
      organizationSignatures: await listOrganizationSignatures(db, identityId),
      grants: await listGrants(db, identityId, now),
    })
  }
  const delegations: AccountExport['delegations'] = []
  for (const delegation of await listDelegations(db, session))
    delegations.push({ ...delegation, uses: await listUses(db, session, delegation.id) })
  const apps: AccountExport['apps'] = []
  for (const app of await listApps(db, { actor: 'person', session }))
    apps.push({ ...toApp(app), webhook: await findWebhook(db, app.clientId) })
  return {
    exportedAt: now.toISOString(),
    user: { userId, createdAt: (await personSince(db, userId)).toISOString() },
    identities,
    passkeys: await listPasskeys(db, userId),
    sessions: await listSessions(db, session, now),
    keyWraps: await listKeyWraps(db, userId),
    recoveryCodeSince: (await recoverySince(db, userId))?.toISOString() ?? null,
    authorizations: await listAuthorizations(db, userId),
    delegations,
    apps,
    organizations: await exportMemberships(db, userId),
    activity: await listActivity(db, userId, {}),
  }
}
