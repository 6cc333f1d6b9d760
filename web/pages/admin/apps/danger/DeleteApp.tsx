import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { Field } from '../../../../components/form/Field.tsx'
import { toast } from '../../../../components/frame/toast.ts'
import { Note } from '../../../../components/ui/Chip.tsx'
import { ApiError } from '../../../../lib/api/call.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { useAppsMessages } from '../words.ts'

type Props = { app: App; onDeleted: () => void; onClose: () => void }

/** Deletes an app whose name the operator types. */
export function DeleteApp({ app: { clientId, name, supportsE2ee }, onDeleted, onClose }: Props) {
  const { delete: words } = useAppsMessages().danger
  const { ask } = useOperator()
  const [confirm, setConfirm] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isConfirmed = confirm.trim() === name.trim()
  const act = {
    name: 'delete-app',
    label: words.now,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (!isConfirmed) return
      await ask('DELETE /api/admin/apps/:clientId', { params: { clientId } }).catch(acceptGone)
      onDeleted()
      toast(words.done(isolate(name)))
    },
  } as const
  return (
    <Ask title={words.ask(isolate(name))} act={act} onClose={onClose} command={['apps', 'delete', clientId, '--yes']}>
      <p>{words.what}</p>
      {supportsE2ee && <Note tone="bad">{words.encrypted}</Note>}
      <Field
        name="confirm"
        label={words.confirm(isolate(name))}
        value={confirm}
        onInput={setConfirm}
        problem={isChecked && !isConfirmed ? words.confirmWrong : undefined}
        exact
      />
    </Ask>
  )
}

/** Ignores that another operator has deleted the app meanwhile. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'app_not_found')) throw error
}
