import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import * as store from './user-store.ts'

type Exported = AccountExport['identities'][number]['directory']

/** Returns what a directory has sent about an identity, as its owner exports it. */
export async function exportUser(db: Database, identityId: IdentityId): Promise<Exported> {
  const user = await store.findSent(db, identityId)
  if (!user) return null
  const { userName, externalId, displayName, formattedName, givenName, familyName, emails } = user
  return {
    ...{ userName, externalId, displayName },
    name: { formatted: formattedName, givenName, familyName },
    emails: emails.map(({ value }) => value),
    createdAt: user.createdAt.toISOString(),
    updatedAt: user.updatedAt.toISOString(),
  }
}
