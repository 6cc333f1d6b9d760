import type { App } from '@countersign/protocol/clients/apps'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing } from '../../../components/form/doing.ts'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { Deliveries } from './Deliveries.tsx'
import { NewSecret } from '../NewSecret.tsx'
import { useWebhook, type LiveWebhook } from './webhook.ts'
import { WebhookAddress } from './WebhookAddress.tsx'
import { WebhookChoices } from './WebhookChoices.tsx'
import { useWords } from '../words.ts'

/** A secret that has just been made. It is in the memory of this section alone. */
type Told = { secret: string; previousUntil?: string }

/** Where an app hears of what happened, and what it was sent. */
export function AppWebhook({ app: { clientId } }: { app: App }) {
  const words = useWords()
  const doing = useDoing()
  const webhook = useWebhook(clientId)
  const { held, read } = webhook
  const [told, setTold] = useState<Told>()
  const retry = { name: 'retry', label: words.developers.retry, do: () => read() }
  useEffect(() => void doing.perform(retry), [])
  return (
    <section class="step apart">
      <h2>{words.webhook.title}</h2>
      {held === undefined && (doing.problem === undefined ? <Waiting /> : <Actions of={[retry]} doing={doing} />)}
      {held === null && <p>{words.webhook.what}</p>}
      {held?.webhook.status === 'disabled' && <p class="problem">{words.webhook.gone}</p>}
      {told ? (
        <NewSecret
          name="webhookSecret"
          secret={told.secret}
          previousUntil={told.previousUntil}
          onSaved={() => setTold(undefined)}
        />
      ) : (
        <Settled of={webhook} clientId={clientId} onTold={setTold} />
      )}
    </section>
  )
}

type SettledProps = { of: LiveWebhook; clientId: string; onTold: (told: Told) => void }

/** All but a secret that has to be saved first. */
function Settled({ of: { held, read, keep, forget, canShowMore, showMore }, clientId, onTold }: SettledProps) {
  if (held === undefined) return null
  return (
    <>
      <WebhookAddress
        key={held === null}
        clientId={clientId}
        webhook={held?.webhook}
        onSet={({ secret, ...set }) => {
          keep(set)
          if (secret !== undefined) onTold({ secret })
        }}
      />
      {held && (
        <>
          <Deliveries clientId={clientId} of={held} onSentAgain={read} onMore={canShowMore ? showMore : undefined} />
          <WebhookChoices
            clientId={clientId}
            isUntried={held.deliveries.length === 0}
            isActive={held.webhook.status === 'active'}
            onSent={read}
            onTold={onTold}
            onRemoved={forget}
          />
        </>
      )}
    </>
  )
}
