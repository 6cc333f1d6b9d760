import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingMemberTransaction, requireMember, type MemberContext } from '#organizations/membership/access.ts'
import * as store from './store.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'

const errors = defineErrors({
  key_not_shared_with_you: [403, 'Only members who have this key can give it up.'],
  key_not_found: [404, 'Key not found.'],
})

/**
 * Deletes the member's own wrap of a key, so that another member can share the key with them again. Throws the errors
 * of `requireMember` and `recordSignedAction`, `key_not_found`, `key_not_shared_with_you`.
 */
export async function giveUpKey(
  { db, config }: ServerContext,
  asking: MemberContext & { keyId: string },
  now: Date,
): Promise<void> {
  const { keyId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'read', now)
    requireRecentAuthenticationForAction(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw errors.key_not_found()
    if (!(await store.deleteGrant(tx, { ...key, memberId: acting.memberId }))) throw errors.key_not_shared_with_you()
    const details = { keyId, version: key.version, memberId: acting.memberId }
    const act = { action: 'organization.key.given_up', details, unsigned: true } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}
