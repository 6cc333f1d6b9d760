import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { takeGrants } from '#organizations/keys/former-grant.ts'
import { suspendSignatoriesWithout } from '#organizations/membership/council/council.ts'
import { lockOrganization } from '#organizations/membership/member.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import * as memberStore from './member-store.ts'
import * as store from './store.ts'

type Losing = { userId: UserId; identityIds: IdentityId[] }

/**
 * Ends what members whose keys are reset could sign for their organizations, and takes the organizations' keys from
 * them: the holder of the new keys may be someone else. Signatories of a council are suspended, and only the council
 * restores them. Without a council, an owner grants the signing authority again.
 */
export async function endSigningOfOrganizations(
  tx: Transaction,
  { userId, identityIds }: Losing,
  now: Date,
): Promise<void> {
  for (const organizationId of await store.listOrganizationsOf(tx, identityIds)) {
    const organization = await lockOrganization(tx, organizationId)
    if (!organization) continue
    await takeGrants(tx, { organizationId, userId, identityIds }, now)
    const hasCouncil = organization.approvalsNeeded > 0
    for (const { identityId, memberId, signingAuthority } of await memberStore.listOwn(
      tx,
      organizationId,
      identityIds,
    )) {
      const lost = { identityIds: [identityId], maySign: false, mayApprove: false }
      const isSuspended = (await suspendSignatoriesWithout(tx, organizationId, lost, now)) > 0
      if (!hasCouncil && signingAuthority) await memberStore.endSigningAuthority(tx, organizationId, memberId)
      const details = { memberId, memberIdentityId: identityId, signatorySuspended: isSuspended }
      const event = { action: 'organization.member.keys_reset', actor: 'user', userId, identityId } as const
      await recordAuditEvent(tx, { ...event, organizationId, details }, now)
    }
  }
}
