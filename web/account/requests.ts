import { useEffect } from 'preact/hooks'
import { call } from '../call.ts'
import type { Holdings } from './Account.tsx'

const restMilliseconds = 5000

/**
 * Reads the requests that wait for a person again every few seconds while they look. What could not be read this time
 * is read the next: a count that is a moment old needs no apology.
 */
export function useLiveRequests(take: (requests: Holdings['requests']) => void): void {
  useEffect(() => {
    const read = async () => {
      if (document.visibilityState === 'visible') take((await call('GET /api/signing/requests', {})).requests)
    }
    const readOrKeep = () => void read().catch(() => {})
    const timer = setInterval(readOrKeep, restMilliseconds)
    document.addEventListener('visibilitychange', readOrKeep)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', readOrKeep)
    }
  }, [])
}
