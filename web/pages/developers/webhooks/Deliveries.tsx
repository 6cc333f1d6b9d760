import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { call } from '../../../lib/api/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { WebhookState } from './webhook.ts'
import { useLocale, type DeveloperWords } from '../words.ts'

type Props = {
  clientId: string
  of: WebhookState
  onSentAgain: () => Promise<void>
  /** Undefined if there are no more deliveries. */
  onMore: (() => Promise<void>) | undefined
}

/** Lists the deliveries of a webhook, newest first. */
export function Deliveries({ clientId, of: { webhook, deliveries }, onSentAgain, onMore }: Props) {
  const { words } = useLocale()
  const doing = useActions()
  const isActive = webhook.status === 'active'
  const more: Action = { name: 'more-deliveries', label: words.webhook.more, look: 'quiet', do: () => onMore?.() }
  return (
    <Card title={words.webhook.deliveries} flush>
      {deliveries.length === 0 && <Empty icon="webhook" title={words.webhook.none} />}
      <ul class="list">
        {deliveries.map((delivery) => (
          <li key={delivery.deliveryId}>
            <Description of={delivery} />
            {delivery.state === 'failed' && isActive && (
              <div class="acts">
                <SendAgain clientId={clientId} delivery={delivery} onSentAgain={onSentAgain} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {onMore && (
        <div class="card-foot">
          <Actions of={[more]} doing={doing} />
        </div>
      )}
    </Card>
  )
}

const looks = { delivered: ['ok', 'check'], pending: ['wait', 'clock'], failed: ['bad', 'x'] } as const

function Description({ of: delivery }: { of: WebhookDelivery }) {
  const speech = useLocale()
  const [tone, icon] = looks[delivery.state]
  return (
    <>
      <span class={`glyph ${tone}`}>
        <Icon name={icon} />
      </span>
      <div class="body" data-state={delivery.state}>
        <strong>
          <code>{delivery.type}</code>
        </strong>
        <p>{momentOf(delivery.createdAt, speech.language)}</p>
        <p class={delivery.state === 'failed' ? 'problem' : undefined}>
          {deliveryStatusText(delivery, { ...speech, now: new Date() })}
        </p>
      </div>
    </>
  )
}

type SendAgainProps = Pick<Props, 'clientId' | 'onSentAgain'> & { delivery: WebhookDelivery }

function SendAgain({ clientId, delivery: { deliveryId, type, createdAt }, onSentAgain }: SendAgainProps) {
  const { words, language } = useLocale()
  const doing = useActions()
  // Each failed delivery has such a button.
  const label = (
    <>
      {words.webhook.sendAgain}
      <span class="vh">{` · ${type} · ${momentOf(createdAt, language)}`}</span>
    </>
  )
  const again: Action = {
    name: 'send-again',
    label,
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
      <ErrorMessage of={doing.problem} />
    </>
  )
}

type OutcomeContext = { words: Pick<DeveloperWords, 'webhook'>; language: string; now: Date }

/** Returns the status of a delivery, and what happens next, in a sentence or two. */
export function deliveryStatusText(
  { state, attempts, nextAttemptAt }: WebhookDelivery,
  { words, language, now }: OutcomeContext,
) {
  const { delivered, onItsWay, nextTry, givenUp, answered, reasons } = words.webhook
  if (state === 'delivered') return delivered
  const last = attempts.at(-1)
  if (!last) return state === 'failed' ? givenUp : onItsWay
  const fault = last.status === null ? reasons[last.reason ?? 'could_not_connect'] : answered(last.status)
  if (state === 'failed') return `${fault} ${givenUp}`
  const isDue = nextAttemptAt === null || new Date(nextAttemptAt) <= now
  return `${fault} ${isDue ? onItsWay : nextTry(momentOf(nextAttemptAt, language))}`
}
