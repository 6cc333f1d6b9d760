import type { Webhook, WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, ApiError } from '../../../lib/api/call.ts'

/** The webhook of an app, and its newest deliveries. */
export type WebhookState = { webhook: Webhook; deliveries: WebhookDelivery[]; hasMore: boolean }

const countAtFirst = 10
/** The maximum page size of the API. */
const countMax = 100
const restMilliseconds = 5000
/** The poll interval while the developer waits for a delivery that they have just requested. */
const shortRestMilliseconds = 1000

export type LiveWebhook = ReturnType<typeof useWebhook>

/** Polls the webhook of an app while the page is visible. `current` is undefined until the first read. */
export function useWebhook(clientId: string) {
  const [current, setCurrent] = useState<WebhookState | null>()
  const [count, setCount] = useState(countAtFirst)
  // A result that was requested before a change must not undo the change here.
  const changes = useRef(0)
  const isRemoving = useRef(false)
  const poll = useRef(Promise.resolve())
  const read = async (few: number = count) => {
    changes.current += 1
    setCurrent(await readWebhook(clientId, few))
  }
  const rest = current?.deliveries.some(isUnderWay) ? shortRestMilliseconds : restMilliseconds
  useEffect(() => {
    if (!current) return undefined
    const readAgain = async () => {
      if (document.visibilityState !== 'visible' || isRemoving.current) return
      const before = changes.current
      const found = await readWebhook(clientId, count)
      if (before === changes.current) setCurrent(found)
    }
    // Failed reads are ignored, because the next one follows soon.
    const refresh = () => {
      poll.current = readAgain().catch(() => {})
    }
    const timer = setInterval(refresh, rest)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [clientId, count, rest, !current])

  return {
    current,
    read,
    /** Stores the webhook that was just set. */
    update(webhook: Webhook) {
      changes.current += 1
      setCurrent({ webhook, deliveries: current?.deliveries ?? [], hasMore: current?.hasMore ?? false })
    },
    /** Removes the webhook. There are no deliveries to read from then on. */
    async remove() {
      isRemoving.current = true
      try {
        await poll.current
        await call('DELETE /api/developer/apps/:clientId/webhook', { params: { clientId } }).catch(acceptGone)
        changes.current += 1
        setCurrent(null)
      } finally {
        isRemoving.current = false
      }
    },
    canShowMore: current?.hasMore === true && count < countMax,
    async showMore() {
      await read(countMax)
      setCount(countMax)
    },
  }
}

/** Returns null if the app has no webhook. */
async function readWebhook(clientId: string, count: number): Promise<WebhookState | null> {
  const params = { clientId }
  try {
    const webhook = await call('GET /api/developer/apps/:clientId/webhook', { params })
    const given = { params, querystring: { limit: String(count) } }
    const { deliveries, nextCursor } = await call('GET /api/developer/apps/:clientId/webhook/deliveries', given)
    return { webhook, deliveries, hasMore: nextCursor !== null }
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** Ignores that the webhook was already removed from another tab. */
function acceptGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'webhook_not_found'
}

function isUnderWay({ state, attempts }: WebhookDelivery): boolean {
  return state === 'pending' && attempts.length === 0
}
