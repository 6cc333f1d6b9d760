import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import { useState } from 'preact/hooks'
import { Note } from '../../../../components/ui/Chip.tsx'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { faultOf } from './attempt.ts'
import { useWebhooksMessages } from './words.ts'

type Props = { webhook: ServiceWebhook; onDone: (said: string) => void; onClose: () => void }

const lookMilliseconds = 500
/** Longer than a receiver may need. */
const looksMax = 24

/** Sends a test event, waits for the first attempt, and says why it did not arrive. */
export function TestWebhook({ webhook: { webhookId, url }, onDone, onClose }: Props) {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const [fault, setFault] = useState<string>()

  async function findAttempt(deliveryId: string) {
    const given = { params: { webhookId }, querystring: { limit: '20' } }
    for (let look = 0; look < looksMax; look += 1) {
      const { deliveries } = await ask('GET /api/admin/webhooks/:webhookId/deliveries', given)
      const attempt = deliveries.find((delivery) => delivery.deliveryId === deliveryId)?.attempts[0]
      if (attempt) return attempt
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds))
    }
    return undefined
  }

  const act = {
    name: 'test-webhook',
    label: words.test.now,
    do: async () => {
      setFault(undefined)
      const { deliveryId } = await ask('POST /api/admin/webhooks/:webhookId/test', { params: { webhookId } })
      const attempt = await findAttempt(deliveryId)
      const problem = attempt ? faultOf(attempt, words) : words.faults.timed_out
      if (problem === undefined) onDone(words.test.arrived)
      else setFault(problem)
    },
  }
  return (
    <Ask title={words.test.title(hostOf(url))} act={act} onClose={onClose} command={['webhooks', 'test', webhookId]}>
      <p>{words.test.what}</p>
      <div role="status">{fault !== undefined && <Note tone="bad">{words.test.failed(fault)}</Note>}</div>
    </Ask>
  )
}

/** Disables a webhook, or enables a disabled one. */
export function SwitchWebhook({ webhook: { webhookId, url, status }, onDone, onClose }: Props) {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const isDisabled = status === 'disabled'
  const said = isDisabled ? words.enable : words.disable
  const act = {
    name: 'switch-webhook',
    label: said.open,
    do: async () => {
      const body = { status: isDisabled ? 'active' : 'disabled' } as const
      await ask('PATCH /api/admin/webhooks/:webhookId', { params: { webhookId }, body })
      onDone(said.done)
    },
  }
  return (
    <Ask
      title={said.title(hostOf(url))}
      act={act}
      onClose={onClose}
      command={['webhooks', isDisabled ? 'enable' : 'disable', webhookId]}
    >
      <p>{said.what}</p>
    </Ask>
  )
}

const graceSeconds = 24 * 3600

/** Replaces the secret. The old one signs too for a day. */
export function RotateSecret({
  webhook: { webhookId, url },
  onIssued,
  onClose,
}: Omit<Props, 'onDone'> & { onIssued: (secret: string) => void }) {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const act = {
    name: 'rotate-webhook',
    label: words.rotate.open,
    do: async () => {
      const given = { params: { webhookId }, body: { graceSeconds } }
      onIssued((await ask('POST /api/admin/webhooks/:webhookId/secret', given)).secret)
    },
  }
  return (
    <Ask
      title={words.rotate.title(hostOf(url))}
      act={act}
      onClose={onClose}
      command={['webhooks', 'rotate-secret', webhookId, '--grace', String(graceSeconds)]}
    >
      <p>{words.rotate.what}</p>
    </Ask>
  )
}

export function RemoveWebhook({ webhook: { webhookId, url }, onDone, onClose }: Props) {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const act = {
    name: 'remove-webhook',
    label: words.remove.open,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/webhooks/:webhookId', { params: { webhookId } })
      onDone(words.remove.done)
    },
  } as const
  return (
    <Ask
      title={words.remove.title(hostOf(url))}
      act={act}
      onClose={onClose}
      command={['webhooks', 'remove', webhookId, '--yes']}
    >
      <p>{words.remove.what}</p>
    </Ask>
  )
}

function hostOf(url: string): string {
  return new URL(url).host
}
