import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingMemberTransaction, requireMember, type Asking } from '#organizations/membership/access.ts'
import * as store from './store.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'

const refuse = refusals({
  key_not_held: [403, 'Only who was granted this key can give it up.'],
  key_not_found: [404, 'This organization has no key with this id.'],
})

/**
 * Gives up what whoever asks was granted of a key, so that they can be granted it again. Refuses what `requireMember`
 * and `recordAct` do, `key_not_found`, `key_not_held`.
 */
export async function giveUpKey({ db, config }: Kernel, asking: Asking & { keyId: string }, now: Date): Promise<void> {
  const { keyId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'read', now)
    requireFreshToAct(asking, now)
    const key = await store.findKey(tx, asking)
    if (!key) throw refuse.key_not_found()
    if (!(await store.deleteGrant(tx, { ...key, memberId: acting.memberId }))) throw refuse.key_not_held()
    const details = { keyId, version: key.version, memberId: acting.memberId }
    const act = { action: 'organization.key.given_up', details, unsigned: true } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}
