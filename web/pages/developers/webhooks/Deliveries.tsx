import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { call } from '../../../lib/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Problem } from '../../../components/form/Problem.tsx'
import { outcomeOf } from './outcome.ts'
import type { Held } from './webhook.ts'
import { useSpeech } from '../words.ts'

type Props = {
  clientId: string
  of: Held
  onSentAgain: () => Promise<void>
  /** Undefined where there is no more to show. */
  onMore: (() => Promise<void>) | undefined
}

/** What an app was sent, the newest first. */
export function Deliveries({ clientId, of: { webhook, deliveries }, onSentAgain, onMore }: Props) {
  const { words } = useSpeech()
  const doing = useDoing()
  const isActive = webhook.status === 'active'
  const more: Action = { name: 'more-deliveries', label: words.webhook.more, look: 'quiet', do: () => onMore?.() }
  return (
    <section class="step">
      <h3>{words.webhook.deliveries}</h3>
      {deliveries.length === 0 && <p>{words.webhook.none}</p>}
      <ul class="entries">
        {deliveries.map((delivery) => (
          <li key={delivery.deliveryId} class="entry">
            <Description of={delivery} />
            {delivery.state === 'failed' && isActive && (
              <SendAgain clientId={clientId} delivery={delivery} onSentAgain={onSentAgain} />
            )}
          </li>
        ))}
      </ul>
      {onMore && <Actions of={[more]} doing={doing} />}
    </section>
  )
}

function Description({ of: delivery }: { of: WebhookDelivery }) {
  const speech = useSpeech()
  return (
    <div data-state={delivery.state}>
      <p class="present">
        <code>{delivery.type}</code>
      </p>
      <p>{momentOf(delivery.createdAt, speech.language)}</p>
      <p class={delivery.state === 'failed' ? 'problem' : undefined}>
        {outcomeOf(delivery, { ...speech, now: new Date() })}
      </p>
    </div>
  )
}

type SendAgainProps = Pick<Props, 'clientId' | 'onSentAgain'> & { delivery: WebhookDelivery }

function SendAgain({ clientId, delivery: { deliveryId }, onSentAgain }: SendAgainProps) {
  const { words } = useSpeech()
  const doing = useDoing()
  const again: Action = {
    name: 'send-again',
    label: words.webhook.sendAgain,
    look: 'quiet',
    do: async () => {
      const params = { clientId, deliveryId }
      await call('POST /api/developer/apps/:clientId/webhook/deliveries/:deliveryId/send', { params })
      await onSentAgain()
    },
  }
  return (
    <>
      <ActionButton action={again} doing={doing} />
      <Problem of={doing.problem} />
    </>
  )
}
