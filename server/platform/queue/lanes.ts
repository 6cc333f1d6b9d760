/**
 * Which receivers may be sent something now. One that let us wait or failed lately is in the slow lane, with slots of
 * its own; in each lane an owner has a share of the slots, and so has an app. So receivers that never answer, however
 * many an owner has, delay nobody else.
 */
export type Lane = 'quick' | 'slow'

type Share = { slots: number; ofOwner: number; ofApp: number }

/** Of each process. */
export const shares: Record<Lane, Share> = {
  quick: { slots: 16, ofOwner: 4, ofApp: 4 },
  slow: { slots: 16, ofOwner: 4, ofApp: 2 },
}

/** Which receiver a delivery is for, and whose it is: the user who registered the app, or the app itself. */
export type Receiver = { clientId: string; owner: string }

/** A delivery that is being sent. It moves to the slow lane when it takes long. */
export type UnderWay = Receiver & { lane: Lane }

/** What is free in a lane; nothing where it has no slot. One entry in the lists for each slot that is taken. */
export function roomIn(lane: Lane, underWay: UnderWay[]) {
  const busy = underWay.filter((each) => each.lane === lane)
  const { slots, ofOwner, ofApp } = shares[lane]
  // What has moved here from the quick lane may be more than the share of its owner, who takes no more than that.
  const byOwner = Map.groupBy(busy, ({ owner }) => owner)
  const taken = [...byOwner.values()].reduce((sum, { length }) => sum + Math.min(length, ofOwner), 0)
  if (taken >= slots) return undefined
  return {
    countMax: slots - taken,
    countOfOwnerMax: ofOwner,
    countOfAppMax: ofApp,
    busyOwners: busy.map(({ owner }) => owner),
    busyClientIds: busy.map(({ clientId }) => clientId),
  }
}
