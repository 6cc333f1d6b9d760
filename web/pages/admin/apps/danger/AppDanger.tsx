import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { Card, DangerRow } from '../../../../components/ui/Card.tsx'
import { Icon } from '../../../../components/ui/Icon.tsx'
import { ChangeStatus } from './ChangeStatus.tsx'
import { DeleteApp } from './DeleteApp.tsx'
import { type IssuedSecret, NewSecret, RotateSecret } from './RotateSecret.tsx'
import { useAppsMessages } from '../words.ts'

type Props = { app: App; onChanged: (app: App) => void; onDeleted: () => void }

/** What can lock the users of an app out: another secret, disabling, deletion. */
export function AppDanger({ app, onChanged, onDeleted }: Props) {
  const { danger: words, secret } = useAppsMessages()
  const [dialog, setDialog] = useState<'rotate' | 'status' | 'delete' | IssuedSecret>()
  const close = () => setDialog(undefined)
  const isDisabled = app.status === 'disabled'
  // The service would register it again, as soon as a user signs in to it.
  const isDescribed = app.metadataFetchedAt !== null
  return (
    <Card danger flush title={words.title}>
      {!app.public && (
        <DangerRow title={secret} what={words.rotate.about}>
          <button type="button" class="button" data-action="ask-rotate-secret" onClick={() => setDialog('rotate')}>
            <Icon name="refresh-cw" size="sm" />
            {words.rotate.open}
          </button>
        </DangerRow>
      )}
      <DangerRow
        title={isDisabled ? words.enable.row : words.disable.row}
        what={isDisabled ? words.enable.about : words.disable.about}
      >
        <button
          type="button"
          class={isDisabled ? 'button primary' : 'button danger-quiet'}
          data-action={isDisabled ? 'ask-enable-app' : 'ask-disable-app'}
          onClick={() => setDialog('status')}
        >
          <Icon name={isDisabled ? 'check' : 'ban'} size="sm" />
          {isDisabled ? words.enable.open : words.disable.open}
        </button>
      </DangerRow>
      <DangerRow title={words.delete.row} what={isDescribed ? words.delete.described : words.delete.about}>
        {!isDescribed && (
          <button type="button" class="button danger" data-action="ask-delete-app" onClick={() => setDialog('delete')}>
            <Icon name="trash" size="sm" />
            {words.delete.open}
          </button>
        )}
      </DangerRow>
      {dialog === 'rotate' && <RotateSecret app={app} onIssued={setDialog} onClose={close} />}
      {dialog === 'status' && <ChangeStatus app={app} onChanged={onChanged} onClose={close} />}
      {dialog === 'delete' && <DeleteApp app={app} onDeleted={onDeleted} onClose={close} />}
      {typeof dialog === 'object' && <NewSecret app={app} issued={dialog} onClose={close} />}
    </Card>
  )
}
