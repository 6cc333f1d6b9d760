import { type Clock, addSeconds, rest } from '#platform/clock.ts'
import type { Logger } from '#platform/observability/log.ts'
import type { Claim } from './turns.ts'
import { type Lane, type Receiver, type UnderWay, roomIn } from './lanes.ts'
import { createServedLately } from './served-lately.ts'

/** A sender that runs until it is stopped. */
export type Sender = { stop: () => Promise<void> }

type Requested = Omit<Claim, 'leaseEndsAt'>

/** A kind of sender: its names for the log, and its operations. */
export type Sending<Claimed extends Receiver> = {
  one: string
  several: string
  /** Returns the ID of a delivery, for the log. */
  idOf: (claimed: Claimed) => string
  /** Subscribes to new deliveries. Returns a function that unsubscribes. */
  onEnqueued: (wake: () => void) => () => void
  /** Leases due deliveries to receivers of a lane. */
  claim: (claim: Requested) => Promise<Claimed[]>
  /**
   * Attempts a delivery. Returns whether the receiver accepted it, if the outcome says something about the receiver.
   */
  attempt: (claimed: Claimed, cut: AbortSignal) => Promise<'taken' | 'not taken' | undefined>
  /** Marks a receiver as slow until an instant, or removes the mark. */
  setSlow: (receiverId: Claimed['receiverId'], slowUntil: Date | null) => Promise<void>
}

/** Time after which an attempt in progress counts as slow. */
const slowAfterMilliseconds = 1000
/** Time for which a receiver must respond quickly before it leaves the slow lane. */
const slowSeconds = 600
const restMilliseconds = 2000
const partingMilliseconds = 2000

/**
 * Sends due deliveries in each process of the service, by lanes and shares, so that receivers do not delay each other.
 * All requests to URLs of apps, and to webhooks of the service, use it.
 */
export function startLaneSender<Claimed extends Receiver>(
  { clock, log }: { clock: Clock; log: Logger },
  { one, several, idOf, onEnqueued, claim, attempt, setSlow }: Sending<Claimed>,
): Sender {
  const [stopped, cut] = [new AbortController(), new AbortController()]
  const underWay = new Map<Promise<void>, UnderWay>()
  const served = createServedLately()
  let alarm = new AbortController()
  const wake = () => alarm.abort()
  const stopHearing = onEnqueued(wake)

  async function sendDue(): Promise<void> {
    for (const lane of ['quick', 'slow'] as const) {
      const room = roomIn(lane, [...underWay.values()])
      if (!room) continue
      for (const claimed of await claim({ ...room, lane, now: clock(), ...served.read() })) begin(claimed, lane)
    }
  }

  function begin(claimed: Claimed, lane: Lane): void {
    const { receiverId, owner } = claimed
    const slot: UnderWay = { receiverId, owner, lane }
    const markSlow = () => setSlow(receiverId, addSeconds(clock(), slowSeconds))
    const attempted = served.during(owner, async () => {
      let marking: Promise<void> | undefined
      // A slow receiver frees its slot at once, not only when it fails.
      const timer = setTimeout(() => {
        slot.lane = 'slow'
        marking = markSlow().finally(wake)
        marking.catch(() => {})
      }, slowAfterMilliseconds)
      const result = await attempt(claimed, cut.signal).finally(() => clearTimeout(timer))
      await marking
      if (result === 'not taken') await markSlow()
      if (result === 'taken' && lane === 'slow' && !marking) await setSlow(receiverId, null)
    })
    const sending = attempted
      .catch((error: unknown) => log.error({ error, receiverId, id: idOf(claimed) }, `${one} outcome not recorded`))
      .finally(() => {
        underWay.delete(sending)
        wake()
      })
    underWay.set(sending, slot)
  }

  const running = (async () => {
    while (!stopped.signal.aborted) {
      // Created before the query, so that a notification during the query is noticed.
      alarm = new AbortController()
      try {
        await sendDue()
      } catch (error) {
        log.warn({ error }, `${several} could not be claimed`)
      }
      await rest(restMilliseconds, alarm.signal)
    }
  })()

  return {
    async stop() {
      stopHearing()
      stopped.abort()
      wake()
      await running
      const parting = setTimeout(() => cut.abort(), partingMilliseconds)
      await Promise.all(underWay.keys())
      clearTimeout(parting)
    },
  }
}
