import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import { useState } from 'preact/hooks'
import { useLocale } from '../../../../components/frame/Root.tsx'
import { toast } from '../../../../components/frame/toast.ts'
import { Card, Empty } from '../../../../components/ui/Card.tsx'
import { Chip } from '../../../../components/ui/Chip.tsx'
import { Icon } from '../../../../components/ui/Icon.tsx'
import { Menu } from '../../../../components/ui/Menu.tsx'
import { formatMomentInSentence } from '../../../../lib/text/dates.ts'
import { useOperator } from '../../acting/operator.ts'
import { Reading } from '../../reading/Reading.tsx'
import { useReading } from '../../reading/use-reading.ts'
import { faultOf } from './attempt.ts'
import { IssuedSecret, NewWebhook } from './NewWebhook.tsx'
import { RemoveWebhook, RotateSecret, SwitchWebhook, TestWebhook } from './WebhookDialogs.tsx'
import { useWebhooksMessages } from './words.ts'

type Act = 'test' | 'switch' | 'rotate' | 'remove'
type DialogState = 'add' | { about: Act; webhook: ServiceWebhook }

/** Lists the webhooks of the service. */
export function Webhooks() {
  const words = useWebhooksMessages()
  const { ask } = useOperator()
  const [dialog, setDialog] = useState<DialogState>()
  const [secret, setSecret] = useState<string>()
  const webhooks = useReading(async () => (await ask('GET /api/admin/webhooks', {})).webhooks, [])
  const close = () => setDialog(undefined)
  // A test that failed has changed what is shown.
  const closeRead = () => {
    close()
    webhooks.again()
  }
  const done = (said: string) => {
    closeRead()
    toast(said)
  }
  const issued = (said: string) => (made: string) => {
    done(said)
    setSecret(made)
  }
  return (
    <Card
      flush
      title={words.title}
      about={words.about}
      actions={
        <button type="button" class="button" data-action="ask-add-webhook" onClick={() => setDialog('add')}>
          <Icon name="plus" size="sm" />
          {words.add}
        </button>
      }
    >
      <Reading of={webhooks}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="webhook" title={words.none} />
          ) : (
            <ul class="list">
              {found.map((webhook) => (
                <WebhookRow
                  key={webhook.webhookId}
                  webhook={webhook}
                  onAsk={(about) => setDialog({ about, webhook })}
                />
              ))}
            </ul>
          )
        }
      </Reading>
      {dialog === 'add' && <NewWebhook onClose={close} onAdded={issued(words.added)} />}
      {typeof dialog === 'object' && (
        <ChosenDialog {...dialog} onDone={done} onIssued={issued(words.rotate.done)} onClose={closeRead} />
      )}
      {secret !== undefined && <IssuedSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </Card>
  )
}

type ChosenProps = {
  about: Act
  webhook: ServiceWebhook
  onDone: (said: string) => void
  onIssued: (secret: string) => void
  onClose: () => void
}

function ChosenDialog({ about, onIssued, ...given }: ChosenProps) {
  switch (about) {
    case 'test':
      return <TestWebhook {...given} />
    case 'switch':
      return <SwitchWebhook {...given} />
    case 'rotate':
      return <RotateSecret {...given} onIssued={onIssued} />
    case 'remove':
      return <RemoveWebhook {...given} />
  }
}

function WebhookRow({ webhook, onAsk }: { webhook: ServiceWebhook; onAsk: (about: Act) => void }) {
  const words = useWebhooksMessages()
  const { language } = useLocale()
  const { url, events, status, lastAttempt } = webhook
  const isDisabled = status === 'disabled'
  const fault = lastAttempt === null ? undefined : faultOf(lastAttempt, words)
  const attempted =
    lastAttempt === null ? words.neverSent : words.sent(formatMomentInSentence(lastAttempt.at, language, new Date()))
  return (
    <li>
      <span class="glyph sm">
        <Icon name="webhook" size="sm" />
      </span>
      <div class="body">
        <strong>
          <bdi dir="ltr">{new URL(url).host}</bdi> {isDisabled && <Chip tone="wait">{words.disabled}</Chip>}
          {!isDisabled && fault !== undefined && <Chip tone="bad">{fault}</Chip>}
        </strong>
        <code dir="ltr">{url}</code>
        <small>
          {attempted} · {words.gets(events.length)}
        </small>
      </div>
      <div class="acts">
        <Menu
          label={words.actions(new URL(url).host)}
          action="webhook-menu"
          items={[
            ...(isDisabled
              ? []
              : [
                  {
                    label: words.test.open,
                    icon: 'play',
                    action: 'ask-test-webhook',
                    onChoose: () => onAsk('test'),
                  } as const,
                ]),
            {
              label: isDisabled ? words.enable.open : words.disable.open,
              icon: isDisabled ? 'play' : 'clock',
              action: 'ask-switch-webhook',
              onChoose: () => onAsk('switch'),
            },
            {
              label: words.rotate.open,
              icon: 'refresh-cw',
              action: 'ask-rotate-webhook',
              onChoose: () => onAsk('rotate'),
            },
            {
              label: words.remove.open,
              icon: 'trash',
              danger: true,
              action: 'ask-remove-webhook',
              onChoose: () => onAsk('remove'),
            },
          ]}
        />
      </div>
    </li>
  )
}
