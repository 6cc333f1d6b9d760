import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { call, ApiError } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../words.ts'

type Props = { app: App; onDeleted: () => void; onClose: () => void }

/** Asks for confirmation before an app is deleted. The developer types its name, so that no one confirms by habit. */
export function DeleteApp({ app: { clientId, name }, onDeleted, onClose }: Props) {
  const words = useMessages()
  const doing = useActions()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const matches = typed.trim() === name.trim()
  const remove: Action = {
    name: 'delete-app',
    label: words.developers.deleteNow,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (!matches) return
      const deleteApp = () => call('DELETE /api/developer/apps/:clientId', { params: { clientId } })
      await withRecentAuthentication(deleteApp).catch(acceptGone)
      onDeleted()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.developers.confirmTitle(name)} onClose={onClose}>
      <p>{words.developers.confirmWhat}</p>
      <ActionForm submit={remove} others={[cancel]} doing={doing}>
        <Field
          name="confirmation"
          label={words.developers.typeName(name)}
          value={typed}
          onInput={setTyped}
          problem={checked && !matches ? words.developers.mismatch : undefined}
          exact
        />
      </ActionForm>
    </Dialog>
  )
}

/** Ignores that the app was already deleted from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'app_not_found')) throw error
}
