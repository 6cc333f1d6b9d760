import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { IdentityId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import * as store from './store.ts'

export { releaseIdentities, setManager } from './store.ts'

const errors = defineErrors({
  managed_elsewhere: [
    409,
    'A directory manages the names and the address of this identity by SCIM. Change them there.',
  ],
})

/** Throws `managed_elsewhere` if a source alone changes the names and the address of an identity. */
export function requireUnmanaged({ managedBy }: { managedBy: string | null }): void {
  if (managedBy !== null) throw errors.managed_elsewhere({ fields: { managedBy } })
}

/** Returns what is stored with an identity besides its profile, for the export of its user. */
export async function exportRecord(
  db: Database,
  identityId: IdentityId,
): Promise<AccountExport['identities'][number]['record']> {
  const found = await store.findIdentity(db, identityId)
  return {
    lastSeenOn: found?.lastSeenOn ?? null,
    emailVerifiedAt: found?.emailVerifiedAt?.toISOString() ?? null,
    recoveryEmailSince: found?.recoveryEmailSince?.toISOString() ?? null,
    managedBy: found?.managedBy ?? null,
  }
}
