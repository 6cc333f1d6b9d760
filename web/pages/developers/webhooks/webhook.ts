import type { Webhook, WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, Refused } from '../../../lib/call.ts'

/** The webhook of an app, and the newest of what it was sent. */
export type Held = { webhook: Webhook; deliveries: WebhookDelivery[]; hasMore: boolean }

const countAtFirst = 10
/** As many as the interface gives at once. */
const countMax = 100
const restMilliseconds = 5000
/** While the person waits for what they have just sent. */
const shortRestMilliseconds = 1000

export type LiveWebhook = ReturnType<typeof useWebhook>

/** What an app has, read again every few seconds while somebody looks; `undefined` until it has been read. */
export function useWebhook(clientId: string) {
  const [held, setHeld] = useState<Held | null>()
  const [count, setCount] = useState(countAtFirst)
  // What was asked for before a change must not undo it here.
  const changes = useRef(0)
  const read = async (few: number = count) => {
    changes.current += 1
    setHeld(await readWebhook(clientId, few))
  }
  const rest = held?.deliveries.some(isUnderWay) ? shortRestMilliseconds : restMilliseconds
  useEffect(() => {
    if (!held) return undefined
    const readAgain = async () => {
      if (document.visibilityState !== 'visible') return
      const before = changes.current
      const found = await readWebhook(clientId, count)
      if (before === changes.current) setHeld(found)
    }
    // What could not be read this time is read the next: a log that is a moment old needs no apology.
    const readOrKeep = () => void readAgain().catch(() => {})
    const timer = setInterval(readOrKeep, rest)
    document.addEventListener('visibilitychange', readOrKeep)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', readOrKeep)
    }
  }, [clientId, count, rest, !held])

  return {
    held,
    read,
    /** What was just set. */
    keep(webhook: Webhook) {
      changes.current += 1
      setHeld({ webhook, deliveries: held?.deliveries ?? [], hasMore: held?.hasMore ?? false })
    },
    forget() {
      changes.current += 1
      setHeld(null)
    },
    canShowMore: held?.hasMore === true && count < countMax,
    async showMore() {
      await read(countMax)
      setCount(countMax)
    },
  }
}

/** Null where the app has none. */
async function readWebhook(clientId: string, count: number): Promise<Held | null> {
  const params = { clientId }
  try {
    const webhook = await call('GET /api/developer/apps/:clientId/webhook', { params })
    const given = { params, querystring: { limit: String(count) } }
    const { deliveries, nextCursor } = await call('GET /api/developer/apps/:clientId/webhook/deliveries', given)
    return { webhook, deliveries, hasMore: nextCursor !== null }
  } catch (error) {
    if (error instanceof Refused && error.code === 'webhook_not_found') return null
    throw error
  }
}

function isUnderWay({ state, attempts }: WebhookDelivery): boolean {
  return state === 'waiting' && attempts.length === 0
}
