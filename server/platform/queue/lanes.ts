/**
 * Lane of a receiver. One that recently failed or was slow is in the slow lane, which has its own slots. In each lane,
 * owners and receivers have a maximum share of the slots. Receivers that never respond therefore delay no other,
 * however many an owner has.
 */
export type Lane = 'quick' | 'slow'

type Share = { slots: number; ofOwner: number; ofReceiver: number }

/** Shares per process. */
const shares: Record<Lane, Share> = {
  quick: { slots: 16, ofOwner: 4, ofReceiver: 4 },
  slow: { slots: 16, ofOwner: 4, ofReceiver: 2 },
}

/** Receiver of a delivery, mostly an app, and its owner: the user who registered the app, or the receiver itself. */
export type Receiver = { receiverId: string; owner: string }

/** A delivery that is being sent. It moves to the slow lane when it takes long. */
export type UnderWay = Receiver & { lane: Lane }

/**
 * Returns the free capacity of a lane, or undefined without a free slot. The lists have one entry for each slot in use.
 */
export function roomIn(lane: Lane, underWay: UnderWay[]) {
  const busy = underWay.filter((each) => each.lane === lane)
  const { slots, ofOwner, ofReceiver } = shares[lane]
  // Deliveries that moved here from the quick lane may exceed the share of their owner, but count only up to it.
  const byOwner = Map.groupBy(busy, ({ owner }) => owner)
  const taken = [...byOwner.values()].reduce((sum, { length }) => sum + Math.min(length, ofOwner), 0)
  if (taken >= slots) return undefined
  return {
    countMax: slots - taken,
    countOfOwnerMax: ofOwner,
    countOfReceiverMax: ofReceiver,
    busyOwners: busy.map(({ owner }) => owner),
    busyReceivers: busy.map(({ receiverId }) => receiverId),
  }
}
