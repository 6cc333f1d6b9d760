import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { exchange } from './exchange.ts'

type Probe = { sentAt: number; answeredAt: number; status: number | undefined; retryAfter: string }

const pauseMilliseconds = 50

/** Sends a request that writes a row, again and again, and records when and how it is answered. */
export function beginProbing(baseUrl: string) {
  const url = `${baseUrl}/api/auth/login/start`
  const probes: Probe[] = []
  const stopped = new AbortController()
  const answered = new EventTarget()
  const probing = (async () => {
    while (!stopped.signal.aborted) {
      const sentAt = performance.now()
      const reply = await exchange(url, { method: 'POST', json: {} })
      const retryAfter = reply?.headers.get('retry-after') ?? ''
      probes.push({ sentAt, answeredAt: performance.now(), status: reply?.status, retryAfter })
      answered.dispatchEvent(new Event('probe'))
      await wait(pauseMilliseconds)
    }
  })()
  return {
    /** Returns the time of the next success of a request that is sent after this call. */
    async nextSuccess(): Promise<number> {
      const calledAt = performance.now()
      for (;;) {
        const success = probes.find(({ sentAt, status }) => sentAt > calledAt && status === 200)
        if (success) return success.answeredAt
        await once(answered, 'probe')
      }
    },
    async stop(): Promise<Probe[]> {
      stopped.abort()
      await probing
      return probes
    },
  }
}
