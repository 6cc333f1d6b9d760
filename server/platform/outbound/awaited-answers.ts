import { whileIdle } from '#platform/idle.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  temporarily_unavailable: [503, 'Too much is being asked of other services. Try again in a moment.'],
})

/** How many requests wait for answers of other services at once: each has a connection. */
const awaitedMax = 500

/** Waits for answers, so many at once; refuses `temporarily_unavailable` beyond that. */
export function boundAnswers() {
  let awaited = 0
  return async <Heard>(ask: () => Promise<Heard>): Promise<Heard> => {
    if (awaited >= awaitedMax) throw refuse.temporarily_unavailable({ headers: { 'retry-after': '5' } })
    awaited += 1
    return whileIdle(ask).finally(() => (awaited -= 1))
  }
}
