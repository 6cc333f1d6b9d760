import type { App } from '@countersign/protocol/clients/apps'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { Spinner } from '../../../components/display/Facts.tsx'
import { Deliveries } from './Deliveries.tsx'
import { NewSecret } from '../AppSecret.tsx'
import { useWebhook, type LiveWebhook } from './webhook.ts'
import { WebhookAddress } from './WebhookAddress.tsx'
import { WebhookChoices } from './WebhookChoices.tsx'
import { useMessages } from '../words.ts'

/** A secret that was just created. Only the memory of this section holds it. */
type IssuedWebhookSecret = { secret: string; previousUntil?: string }

/** Shows the webhook of an app, and its deliveries. */
export function AppWebhook({ app: { clientId } }: { app: App }) {
  const words = useMessages()
  const doing = useActions()
  const webhook = useWebhook(clientId)
  const { current, read } = webhook
  const [issued, setIssued] = useState<IssuedWebhookSecret>()
  const retry = { name: 'retry', label: words.developers.retry, do: () => read() }
  useEffect(() => void doing.perform(retry), [])
  return (
    <section class="step apart">
      <h2>{words.webhook.title}</h2>
      {current === undefined && (doing.problem === undefined ? <Spinner /> : <Actions of={[retry]} doing={doing} />)}
      {current === null && <p>{words.webhook.what}</p>}
      {current?.webhook.status === 'disabled' && <p class="problem">{words.webhook.gone}</p>}
      {issued ? (
        <NewSecret
          name="webhookSecret"
          secret={issued.secret}
          previousUntil={issued.previousUntil}
          onSaved={() => setIssued(undefined)}
        />
      ) : (
        <Settled of={webhook} clientId={clientId} onIssued={setIssued} />
      )}
    </section>
  )
}

type SettledProps = { of: LiveWebhook; clientId: string; onIssued: (issued: IssuedWebhookSecret) => void }

/** Everything except a new secret, which must be saved first. */
function Settled({ of: { current, read, update, clear, canShowMore, showMore }, clientId, onIssued }: SettledProps) {
  if (current === undefined) return null
  return (
    <>
      <WebhookAddress
        key={current === null}
        clientId={clientId}
        webhook={current?.webhook}
        onSet={({ secret, ...set }) => {
          update(set)
          if (secret !== undefined) onIssued({ secret })
        }}
      />
      {current && (
        <>
          <Deliveries clientId={clientId} of={current} onSentAgain={read} onMore={canShowMore ? showMore : undefined} />
          <WebhookChoices
            clientId={clientId}
            isUntried={current.deliveries.length === 0}
            isActive={current.webhook.status === 'active'}
            onSent={read}
            onIssued={onIssued}
            onRemoved={clear}
          />
        </>
      )}
    </>
  )
}
