import { secondsAfter } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'
import { rest } from '#platform/rest.ts'
import type { Claim } from './turns.ts'
import { roomIn, type Lane, type Receiver, type UnderWay } from './lanes.ts'
import { createServedLately } from './served-lately.ts'

/** A sender that runs until it is stopped. */
export type Sender = { stop: () => Promise<void> }

type Wanted = Omit<Claim, 'leaseEndsAt'>

/** What a kind of sender sends, in words for the log, and how. */
export type Sending<Claimed extends Receiver> = {
  one: string
  several: string
  /** The id of one, for the log. */
  idOf: (claimed: Claimed) => string
  /** Hears that something is to be sent; the answer ends that. */
  onBell: (wake: () => void) => () => void
  /** Takes what is due to receivers of a lane, for the length of a lease. */
  claim: (claim: Wanted) => Promise<Claimed[]>
  /** Attempts one: whether the receiver has taken it, where that says something about the receiver. */
  attempt: (claimed: Claimed, cut: AbortSignal) => Promise<'taken' | 'not taken' | undefined>
  /** Has a receiver counted as slow until then, or as quick again. */
  setSlow: (clientId: string, slowUntil: Date | null) => Promise<void>
}

/** After so long an attempt counts as slow while it is still under way. */
const slowAfterMilliseconds = 1000
/** For how long a receiver has to answer soon before it is taken for quick again. */
const slowSeconds = 600
const restMilliseconds = 2000
const partingMilliseconds = 2000

/**
 * Sends what is due, in each process of the service, by lanes and shares: whatever some receivers do, others get
 * theirs. All that is sent to addresses which apps have named goes through here.
 */
export function startLaneSender<Claimed extends Receiver>(
  { clock, log }: Pick<Kernel, 'clock' | 'log'>,
  { one, several, idOf, onBell, claim, attempt, setSlow }: Sending<Claimed>,
): Sender {
  const [stopped, cut] = [new AbortController(), new AbortController()]
  const underWay = new Map<Promise<void>, UnderWay>()
  const served = createServedLately()
  let alarm = new AbortController()
  const wake = () => alarm.abort()
  const stopHearing = onBell(wake)

  async function sendDue(): Promise<void> {
    for (const lane of ['quick', 'slow'] as const) {
      const room = roomIn(lane, [...underWay.values()])
      if (!room) continue
      for (const claimed of await claim({ ...room, lane, now: clock(), ...served.read() })) begin(claimed, lane)
    }
  }

  function begin(claimed: Claimed, lane: Lane): void {
    const { clientId, owner } = claimed
    const slot: UnderWay = { clientId, owner, lane }
    const markSlow = () => setSlow(clientId, secondsAfter(clock(), slowSeconds))
    const attempted = served.during(owner, async () => {
      let marking: Promise<void> | undefined
      // A receiver that lets us wait gives its slot back at once, not only when it has failed.
      const timer = setTimeout(() => {
        slot.lane = 'slow'
        marking = markSlow().finally(wake)
        marking.catch(() => {})
      }, slowAfterMilliseconds)
      const result = await attempt(claimed, cut.signal).finally(() => clearTimeout(timer))
      await marking
      if (result === 'not taken') await markSlow()
      if (result === 'taken' && lane === 'slow' && !marking) await setSlow(clientId, null)
    })
    const sending = attempted
      .catch((error: unknown) => log.error({ error, clientId, id: idOf(claimed) }, `${one} was not settled`))
      .finally(() => {
        underWay.delete(sending)
        wake()
      })
    underWay.set(sending, slot)
  }

  const running = (async () => {
    while (!stopped.signal.aborted) {
      // Before the look, so that a bell during it is heard.
      alarm = new AbortController()
      try {
        await sendDue()
      } catch (error) {
        log.warn({ error }, `${several} could not be looked for`)
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
