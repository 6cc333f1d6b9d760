import { whileIdle } from '#platform/idle.ts'
import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  temporarily_unavailable: [503, 'Too many pending requests to other services. Retry later.'],
})

/** Maximum number of concurrent requests to other services, each with its own connection. */
const awaitedMax = 500

/** Limits concurrent waits for responses. Throws `temporarily_unavailable` above the limit. */
export function boundAnswers() {
  let awaited = 0
  return async <Heard>(ask: () => Promise<Heard>): Promise<Heard> => {
    if (awaited >= awaitedMax) throw errors.temporarily_unavailable({ headers: { 'retry-after': '5' } })
    awaited += 1
    return whileIdle(ask).finally(() => (awaited -= 1))
  }
}
