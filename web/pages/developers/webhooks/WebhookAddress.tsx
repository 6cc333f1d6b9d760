import type { ResponseOf } from '@countersign/protocol/api'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { isEndpointUrl } from '../../../lib/uris/web-urls.ts'
import type { KeptInput } from '../unsaved/kept-input.ts'
import { useMessages } from '../words.ts'

type Props = {
  clientId: string
  /** Undefined if the app has no webhook yet. */
  webhook: Webhook | undefined
  kept: KeptInput<string>
  onSet: (set: ResponseOf<'PUT /api/developer/apps/:clientId/webhook'>) => void
}

/** Sets or changes the URL of the webhook. */
export function WebhookAddress({ clientId, webhook, kept, onSet }: Props) {
  const words = useMessages()
  const doing = useActions()
  const typed = kept.of(clientId)
  const current = webhook?.url ?? ''
  const url = typed ?? current
  const [checked, setChecked] = useState(false)
  const [saved, setSaved] = useState(false)
  const isSame = typed?.trim() === current
  useEffect(() => {
    if (isSame) kept.drop(clientId)
  }, [isSame])
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
      kept.drop(clientId, (present) => present === typed)
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
            kept.keep(clientId, text)
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
