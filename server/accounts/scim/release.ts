import { releaseGroups } from '#accounts/groups/managed.ts'
import { releaseInvited } from '#accounts/invitations/invited/invited-identity.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import { deleteGroupsOf } from './groups/group-store.ts'
import * as tokenStore from './token-store.ts'
import { releaseUsers } from './users/provisioning.ts'
import * as userStore from './users/user-store.ts'

/**
 * Releases up to `batch` users and memberships of a deleted token: users and operators manage them from now on. No one
 * loses access by it. Returns their number.
 */
export function releaseDeleted(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const token = await tokenStore.lockDeleted(tx)
    if (!token) return 0
    const source = `scim:${token.tokenId}`
    const identityIds = await userStore.listIdentityIds(tx, token.tokenId, batch)
    await releaseInvited(tx, identityIds, source)
    if (identityIds.length > 0) await releaseUsers(tx, { identityIds, source }, now)
    if (identityIds.length > 0) return identityIds.length
    const memberships = await releaseGroups(tx, source, batch)
    if (memberships < batch) {
      await deleteGroupsOf(tx, token.tokenId)
      await tokenStore.deleteToken(tx, token.tokenId)
    }
    return Math.max(memberships, 1)
  })
}
