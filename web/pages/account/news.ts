import { useEffect, useRef } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import type { Holdings } from './Account.tsx'
import { readPending } from './signing/pending.ts'

const restMilliseconds = 5000

/** What waits for a person and may come at any moment. */
export type News = Pick<Holdings, 'pending' | 'devices'>

/**
 * Reads what waits for a person again every few seconds while they look, as much as they see. What could not be read
 * this time is read the next: a count that is a moment old needs no apology.
 */
export function useNews(shown: number, take: (news: News) => void): void {
  const latest = useRef(shown)
  latest.current = shown
  useEffect(() => {
    const read = async () => {
      if (document.visibilityState === 'visible') take(await readNews(latest.current))
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

export async function readNews(shown = 0): Promise<News> {
  const [pending, { devices }] = await Promise.all([readPending(shown), call('GET /api/account/device-approvals', {})])
  return { pending, devices }
}
