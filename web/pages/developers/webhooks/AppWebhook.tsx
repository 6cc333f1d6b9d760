import type { App } from '@countersign/protocol/clients/apps'
import { useEffect } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { Deliveries } from './Deliveries.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import type { IssuedSecret } from '../danger/IssuedSecrets.tsx'
import { LearnMore } from '../LearnMore.tsx'
import { useWebhook, type LiveWebhook } from './webhook.ts'
import { WebhookAddress } from './WebhookAddress.tsx'
import { WebhookChoices } from './WebhookChoices.tsx'
import type { KeptInput } from '../unsaved/kept-input.ts'
import { useMessages } from '../words.ts'

type Props = {
  app: App
  /** What is typed for the webhook of each app. */
  kept: KeptInput<string>
  onIssued: (issued: IssuedSecret) => void
}

/** Shows the webhook of an app, and its deliveries. */
export function AppWebhook({ app, kept, onIssued }: Props) {
  const { clientId } = app
  const words = useMessages()
  const doing = useActions()
  const webhook = useWebhook(clientId)
  const { current, read } = webhook
  const retry = { name: 'retry', label: words.developers.retry, do: () => read() }
  useEffect(() => void doing.perform(retry), [])
  return (
    <>
      <Card title={words.webhook.title} about={words.webhook.what} actions={<LearnMore guide="webhooks" />}>
        {current === undefined && (doing.problem === undefined ? <Skeleton /> : <Actions of={[retry]} doing={doing} />)}
        {current?.webhook.status === 'disabled' && <Note tone="bad">{words.webhook.gone}</Note>}
        <Endpoint
          of={webhook}
          clientId={clientId}
          kept={kept}
          onIssued={(issued) => onIssued({ name: 'webhookSecret', app, ...issued })}
        />
      </Card>
      {current && (
        <Deliveries
          clientId={clientId}
          of={current}
          onSentAgain={read}
          onMore={webhook.canShowMore ? webhook.showMore : undefined}
        />
      )}
    </>
  )
}

type EndpointProps = {
  of: LiveWebhook
  clientId: string
  kept: KeptInput<string>
  onIssued: (issued: Pick<IssuedSecret, 'secret' | 'previousUntil'>) => void
}

/** The address of the webhook, and its actions. */
function Endpoint({ of: { current, read, update, remove }, clientId, kept, onIssued }: EndpointProps) {
  if (current === undefined) return null
  return (
    <>
      <WebhookAddress
        key={current === null}
        clientId={clientId}
        webhook={current?.webhook}
        kept={kept}
        onSet={({ secret, ...set }) => {
          update(set)
          if (secret !== undefined) onIssued({ secret })
        }}
      />
      {current && (
        <WebhookChoices
          clientId={clientId}
          isUntried={current.deliveries.length === 0}
          isActive={current.webhook.status === 'active'}
          onSent={read}
          onIssued={onIssued}
          onRemove={remove}
        />
      )}
    </>
  )
}
