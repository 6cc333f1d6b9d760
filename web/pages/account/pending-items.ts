import { useEffect, useRef } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import type { AccountData } from './Account.tsx'
import { readPending } from './signing/pending.ts'

const restMilliseconds = 5000

/** The items that wait for the user and may arrive at any time. */
export type PendingItems = Pick<AccountData, 'pending' | 'devices'>

/**
 * Polls the pending items every few seconds while the page is visible and shows some, as many as it shows. Failed reads
 * are ignored, because the next one follows soon.
 */
export function usePendingItems(shown: number | undefined, take: (news: PendingItems) => void): void {
  const latest = useRef(shown)
  latest.current = shown
  useEffect(() => {
    const read = async () => {
      const { current: count } = latest
      if (count !== undefined && document.visibilityState === 'visible') take(await fetchPendingItems(count))
    }
    const refresh = () => void read().catch(() => {})
    const timer = setInterval(refresh, restMilliseconds)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [])
}

export async function fetchPendingItems(shown = 0): Promise<PendingItems> {
  const [pending, { devices }] = await Promise.all([readPending(shown), call('GET /api/account/device-approvals', {})])
  return { pending, devices }
}
