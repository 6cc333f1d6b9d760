import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { RotateSecret } from '../danger/AppSecret.tsx'
import { useMessages } from '../words.ts'

type Props = {
  clientId: string
  /** True if there was no delivery yet. Then a test delivery is the next step. */
  isUntried: boolean
  isActive: boolean
  onSent: () => Promise<void>
  onIssued: (issued: { secret: string; previousUntil: string }) => void
  onRemove: () => Promise<void>
}

/** The actions of a webhook that exists. */
export function WebhookChoices({ clientId, isUntried, isActive, onSent, onIssued, onRemove }: Props) {
  const words = useMessages()
  const doing = useActions()
  const [dialog, setDialog] = useState<'rotate' | 'remove'>()
  const closeDialog = () => setDialog(undefined)
  const test: Action = {
    name: 'test-webhook',
    label: words.webhook.test,
    look: isUntried ? 'primary' : 'secondary',
    do: async () => {
      await call('POST /api/developer/apps/:clientId/webhook/test', { params: { clientId } })
      toast(words.webhook.testSent)
      await onSent()
    },
  }
  const rotate: Action = {
    name: 'new-webhook-secret',
    label: words.developers.rotate,
    look: 'quiet',
    do: () => setDialog('rotate'),
  }
  const remove: Action = {
    name: 'end-webhook',
    label: words.webhook.remove,
    look: 'danger-quiet',
    do: () => setDialog('remove'),
  }
  return (
    <>
      <Actions of={isActive ? [test, rotate, remove] : [rotate, remove]} doing={doing} />
      {dialog === 'rotate' && (
        <RotateSecret
          onRotate={async (graceSeconds) => {
            const given = { params: { clientId }, body: { graceSeconds } }
            const issued = await call('POST /api/developer/apps/:clientId/webhook/secret', given)
            closeDialog()
            onIssued(issued)
          }}
          onClose={closeDialog}
        />
      )}
      {dialog === 'remove' && <Removal onRemove={onRemove} onClose={closeDialog} />}
    </>
  )
}

type RemovalProps = Pick<Props, 'onRemove'> & { onClose: () => void }

function Removal({ onRemove, onClose }: RemovalProps) {
  const words = useMessages()
  const doing = useActions()
  const remove: Action = {
    name: 'remove-webhook',
    label: words.webhook.removeNow,
    look: 'danger',
    do: onRemove,
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.webhook.removeTitle} onClose={onClose}>
      <p>{words.webhook.removeWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}
