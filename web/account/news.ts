import { useEffect } from 'preact/hooks'
import { call } from '../call.ts'
import type { Holdings } from './Account.tsx'

const restMilliseconds = 5000

/** What waits for a person and may come at any moment. */
export type News = Pick<Holdings, 'requests' | 'hasMoreRequests' | 'devices'>

/**
 * Reads what waits for a person again every few seconds while they look. What could not be read this time
 * is read the next: a count that is a moment old needs no apology.
 */
export function useNews(take: (news: News) => void): void {
  useEffect(() => {
    const read = async () => {
      if (document.visibilityState === 'visible') take(await readNews())
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

export async function readNews(): Promise<News> {
  const [waiting, { devices }] = await Promise.all([readWaiting(), call('GET /api/account/device-approvals', {})])
  return { ...waiting, devices }
}

/** What waits for a signature: the first page of it, since what is answered makes room for what expires later. */
export async function readWaiting(): Promise<Pick<Holdings, 'requests' | 'hasMoreRequests'>> {
  const { requests, nextCursor } = await call('GET /api/signing/requests', { querystring: {} })
  return { requests, hasMoreRequests: nextCursor !== undefined }
}
