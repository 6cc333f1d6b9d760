import type { EventActor } from '@countersign/protocol/clients/webhook-events'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'

/** What can end, and whose it is. Identities, sessions and registered apps of one user end together. */
export type Endings = {
  /** Registered apps that their owner deletes, with their rows locked. */
  ownedApps: { clientIds: ClientId[] }
  /** Apps that the user has registered. The account cannot end while they exist, except with `withApps`. */
  apps: { userId: UserId; withApps: boolean }
  /** `by` is who ends them. */
  identities: { userId: UserId; identityIds: IdentityId[]; by: EventActor }
  /** Invited identities, which have no account. */
  invited: { identityIds: IdentityId[] }
  account: { userId: UserId }
  /** What identities can use that operators suspend, or a whole account. Their data stays. */
  access: { userId: UserId; identityIds: IdentityId[]; which: 'all' | 'of identities' }
  /**
   * What was signed in before a recovery of the account, or by a recovery of an identity that is undone. Operators lose
   * their rights. Apps that were connected since `connectedSince` are disconnected.
   */
  recovered: { userId: UserId; identityIds: IdentityId[]; connectedSince: Date | null }
  /** What the former keys of an account open or could sign, when new keys replace lost ones. */
  keys: { userId: UserId; identityIds: IdentityId[] }
  /** All sessions of the account, or what remains of sessions after these identities. */
  sessions: { userId: UserId; identityIds: IdentityId[]; which: 'all' | 'of identities' }
}

/** Deletes a room's part of what ends, in its transaction, or throws if it must not end. */
type EndPart<Services, What extends keyof Endings> = (
  tx: Transaction,
  ending: Endings[What],
  now: Date,
  services: Services,
) => Promise<void>

export type EndParts<Services> = { [What in keyof Endings]?: EndPart<Services, What> }

/** Rooms that have a part, for each kind of ending in the order in which they lock their rows. */
export type EndOrder = { [What in keyof Endings]: readonly string[] }

export type Lifecycle = {
  /** Ends something in every room, in the transaction. */
  end: <What extends keyof Endings>(tx: Transaction, what: What, ending: Endings[What], now: Date) => Promise<void>
}

/**
 * Creates the lifecycle of the modules. The order of the rooms is written and not derived from their place, because it
 * is the order of their locks.
 */
export function createLifecycle<Services>(
  modules: readonly { name: string; ended?: EndParts<Services> }[],
  order: EndOrder,
  services: () => Services,
): Lifecycle {
  return {
    async end(tx, what, ending, now) {
      for (const name of order[what]) {
        const part = modules.find((module) => module.name === name)?.ended?.[what]
        await part?.(tx, ending, now, services())
      }
    },
  }
}
