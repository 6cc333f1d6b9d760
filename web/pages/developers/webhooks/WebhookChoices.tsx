import { useState } from 'preact/hooks'
import { call, Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Rotation } from '../Rotation.tsx'
import { useWords } from '../words.ts'

type Props = {
  clientId: string
  /** Whether nothing has been sent yet: then that is the next step. */
  isUntried: boolean
  isActive: boolean
  onSent: () => Promise<void>
  onTold: (told: { secret: string; previousUntil: string }) => void
  onRemoved: () => void
}

/** What can be done with a webhook that is there. */
export function WebhookChoices({ clientId, isUntried, isActive, onSent, onTold, onRemoved }: Props) {
  const words = useWords()
  const doing = useDoing()
  const [asking, setAsking] = useState<'rotate' | 'remove'>()
  const stopAsking = () => setAsking(undefined)
  const test: Action = {
    name: 'test-webhook',
    label: words.webhook.test,
    look: isUntried ? 'primary' : 'secondary',
    do: async () => {
      await call('POST /api/developer/apps/:clientId/webhook/test', { params: { clientId } })
      await onSent()
    },
  }
  const rotate: Action = {
    name: 'new-webhook-secret',
    label: words.developers.rotate,
    look: 'quiet',
    do: () => setAsking('rotate'),
  }
  const remove: Action = {
    name: 'end-webhook',
    label: words.webhook.remove,
    look: 'quiet',
    do: () => setAsking('remove'),
  }
  return (
    <>
      <Actions of={isActive ? [test, rotate, remove] : [rotate, remove]} doing={doing} />
      {asking === 'rotate' && (
        <Rotation
          onRotate={async (graceSeconds) => {
            const given = { params: { clientId }, body: { graceSeconds } }
            const told = await call('POST /api/developer/apps/:clientId/webhook/secret', given)
            stopAsking()
            onTold(told)
          }}
          onClose={stopAsking}
        />
      )}
      {asking === 'remove' && <Removal clientId={clientId} onRemoved={onRemoved} onClose={stopAsking} />}
    </>
  )
}

type RemovalProps = Pick<Props, 'clientId' | 'onRemoved'> & { onClose: () => void }

function Removal({ clientId, onRemoved, onClose }: RemovalProps) {
  const words = useWords()
  const doing = useDoing()
  const remove: Action = {
    name: 'remove-webhook',
    label: words.webhook.removeNow,
    do: async () => {
      await call('DELETE /api/developer/apps/:clientId/webhook', { params: { clientId } }).catch(acceptGone)
      onRemoved()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.webhook.removeTitle} onClose={onClose}>
      <p>{words.webhook.removeWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Removed already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'webhook_not_found')) throw error
}
