import { actingPersonTransaction } from '#accounts/identities/identity.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import type { RegisteredApp } from './app-directory.ts'

const refuse = refusals({
  disabled_by_operator: [403, 'The operator of this service has disabled this, and only they can enable it.'],
})

/** The refusal of what would bring back something that the operator has disabled. */
export const refuseHeld = refuse.disabled_by_operator

/** Who looks after apps: the operator after every one, a person after those that they registered. */
export type Steward = { actor: 'operator' } | { actor: 'person'; session: Session }

/** An app by its id, as somebody asks for it who may look after it or not. */
export type Sought = { steward: Steward; clientId: string }

/**
 * Runs what changes something for a steward: for a person as `actingPersonTransaction` does, and refuses as that does.
 */
export function stewardTransaction<Result>(
  db: Database,
  steward: Steward,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return steward.actor === 'person' ? actingPersonTransaction(db, steward.session, work) : transaction(db, work)
}

/** Whose an app is that a steward registers; null where it is the operator's. */
export function ownerOf(steward: Steward): string | null {
  return steward.actor === 'person' ? steward.session.userId : null
}

export function looksAfter(steward: Steward, { ownerUserId }: Pick<RegisteredApp, 'ownerUserId'>): boolean {
  return steward.actor === 'operator' || ownerUserId === steward.session.userId
}

/** A steward as the trail names them. */
export function byline(steward: Steward) {
  const { actor } = steward
  return actor === 'person' ? { actor, userId: steward.session.userId } : { actor }
}

/** Refuses `reauthentication_required` where a person has not proved lately that they are there. */
export function requirePresence(steward: Steward, now: Date): void {
  if (steward.actor === 'person') requireFresh(steward.session, now)
}

/**
 * Whether the operator holds what is theirs to disable, after a change of it. Refuses `disabled_by_operator` where its
 * owner would enable it.
 */
export function isHeldAfter(
  steward: Steward,
  { isHeld }: { isHeld: boolean },
  { status }: { status?: 'active' | 'disabled' | undefined },
): boolean {
  if (status === undefined) return isHeld
  if (steward.actor === 'operator') return status === 'disabled'
  if (isHeld && status === 'active') throw refuseHeld()
  return isHeld
}
