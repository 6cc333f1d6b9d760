import type { ResponseOf } from '@countersign/protocol/api'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useUnsaved } from '../../../components/form/draft.ts'
import { Field } from '../../../components/form/Field.tsx'
import { isEndpointUrl } from '../../../lib/uris/web-urls.ts'
import { useMessages } from '../words.ts'

type Props = {
  clientId: string
  /** Undefined if the app has no webhook yet. */
  webhook: Webhook | undefined
  onSet: (set: ResponseOf<'PUT /api/developer/apps/:clientId/webhook'>) => void
}

/** Sets or changes the URL of the webhook. */
export function WebhookAddress({ clientId, webhook, onSet }: Props) {
  const words = useMessages()
  const doing = useActions()
  const [typed, setTyped] = useState<string>()
  const url = typed ?? webhook?.url ?? ''
  const [checked, setChecked] = useState(false)
  const [saved, setSaved] = useState(false)
  useUnsaved(url.trim() !== (webhook?.url ?? ''))
  const isWrong = checked && !isEndpointUrl(url.trim())
  const set: Action = {
    name: webhook ? 'save-webhook' : 'set-webhook',
    label: labelOf(webhook, words),
    look: webhook?.status === 'active' ? 'secondary' : 'primary',
    do: async () => {
      setChecked(true)
      setSaved(false)
      if (!isEndpointUrl(url.trim())) return
      const given = { params: { clientId }, body: { url: url.trim() } }
      onSet(await withRecentAuthentication(() => call('PUT /api/developer/apps/:clientId/webhook', given)))
      // What was typed meanwhile is not saved.
      setTyped((present) => (present === typed ? undefined : present))
      setSaved(webhook !== undefined)
    },
  }
  return (
    <>
      <ActionForm submit={set} doing={doing}>
        <Field
          name="webhookUrl"
          label={words.webhook.url}
          hint={words.webhook.urlHint}
          value={url}
          onInput={(text) => {
            setSaved(false)
            setTyped(text)
          }}
          problem={isWrong ? words.developers.endpointInvalid : undefined}
          keys="url"
          exact
        />
      </ActionForm>
      <div role="status">{saved && <p>{words.developers.saved}</p>}</div>
    </>
  )
}

function labelOf(webhook: Webhook | undefined, words: ReturnType<typeof useMessages>): string {
  if (!webhook) return words.webhook.set
  return webhook.status === 'active' ? words.developers.save : words.webhook.enable
}
