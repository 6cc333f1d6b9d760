import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Card, DangerRow } from '../../../components/ui/Card.tsx'
import { useMessages } from '../words.ts'
import { RotateSecret } from './AppSecret.tsx'
import { DeleteApp } from './DeleteApp.tsx'
import type { IssuedSecret } from './IssuedSecrets.tsx'

type Props = {
  app: App
  onIssued: (issued: IssuedSecret) => void
  onChanged: (app: App) => void
  onDeleted: () => void
}

/** What ends something: the secret, all sign-ins, the app. */
export function Danger({ app, onIssued, onChanged, onDeleted }: Props) {
  const words = useMessages().developers
  const doing = useActions()
  const [dialog, setDialog] = useState<'rotate' | 'disable' | 'delete'>()
  const close = () => setDialog(undefined)
  const { clientId } = app
  const open = (
    name: string,
    label: string,
    which: 'rotate' | 'disable' | 'delete',
    look: 'secondary' | 'danger' | 'danger-quiet',
  ): Action => ({
    name,
    label,
    look,
    do: () => setDialog(which),
  })
  return (
    <Card danger flush title={words.danger}>
      {!app.public && (
        <DangerRow title={words.secret} what={words.rotateWhat}>
          <ActionButton action={open('new-secret', words.rotate, 'rotate', 'secondary')} doing={doing} />
        </DangerRow>
      )}
      {app.status === 'active' && (
        <DangerRow title={words.disableTitle} what={words.disableWhat}>
          <ActionButton action={open('disable-app', words.disable, 'disable', 'danger-quiet')} doing={doing} />
        </DangerRow>
      )}
      <DangerRow title={words.deleteTitle} what={words.deleteWhat}>
        <ActionButton action={open('end-app', words.deleteTitle, 'delete', 'danger')} doing={doing} />
      </DangerRow>
      {dialog === 'rotate' && (
        <RotateSecret
          onRotate={async (graceSeconds) => {
            const given = { params: { clientId }, body: { graceSeconds } }
            const { clientSecret, previousUntil } = await call('POST /api/developer/apps/:clientId/secret', given)
            close()
            onIssued({ name: 'clientSecret', app, secret: clientSecret, previousUntil })
          }}
          onClose={close}
        />
      )}
      {dialog === 'disable' && (
        <DisableApp
          app={app}
          onDisabled={(changed) => {
            close()
            onChanged(changed)
          }}
          onClose={close}
        />
      )}
      {dialog === 'delete' && <DeleteApp app={app} onDeleted={onDeleted} onClose={close} />}
    </Card>
  )
}

type DisableProps = { app: App; onDisabled: (app: App) => void; onClose: () => void }

function DisableApp({ app: { clientId, name }, onDisabled, onClose }: DisableProps) {
  const words = useMessages()
  const doing = useActions()
  const disable: Action = {
    name: 'confirm-disable-app',
    label: words.developers.disable,
    look: 'danger',
    do: async () => {
      const body = { status: 'disabled' } as const
      onDisabled(await call('PATCH /api/developer/apps/:clientId', { params: { clientId }, headers: {}, body }))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.developers.disableQuestion(name)} onClose={onClose}>
      <p>{words.developers.disableWhat}</p>
      <Actions of={[disable, cancel]} doing={doing} />
    </Dialog>
  )
}
