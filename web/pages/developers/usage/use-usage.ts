import type { AppUsage } from '@countersign/protocol/clients/usage'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { type ActionState, useActions } from '../../../components/form/use-actions.ts'

const awaitedMilliseconds = 2500

export type LiveUsage = { current: AppUsage | undefined; doing: ActionState; read: () => Promise<void> }

/**
 * Reads the usage of an app. While `isAwaited` and there is no sign-in yet, reads it again and again, as long as the
 * page is visible.
 */
export function useUsage(clientId: string, { isAwaited }: { isAwaited: boolean }): LiveUsage {
  const doing = useActions()
  const [current, setCurrent] = useState<AppUsage>()
  const load = async () => setCurrent(await call('GET /api/developer/apps/:clientId/usage', { params: { clientId } }))
  const read = () => doing.perform({ name: 'read-usage', do: load })
  useEffect(() => void read(), [clientId])
  const isWaiting = isAwaited && current?.lastSignInAt === null
  useEffect(() => {
    if (!isWaiting) return undefined
    // Failed reads are ignored, because the next one follows soon.
    const refresh = () => void (document.visibilityState === 'visible' && load().catch(() => {}))
    const timer = setInterval(refresh, awaitedMilliseconds)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [clientId, isWaiting])
  return { current, doing, read }
}
