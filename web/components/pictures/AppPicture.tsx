import type { App } from '@countersign/protocol/clients/apps'
import { useId } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { upload } from '../../lib/api/upload.ts'
import { ActionButton } from '../form/Actions.tsx'
import { ErrorMessage } from '../form/Dialog.tsx'
import { type Action, useActions } from '../form/use-actions.ts'
import { toast } from '../frame/toast.ts'
import { PictureEditor } from './PictureEditor.tsx'
import { usePictureWords } from './picture-words.ts'

type Props = { app: App; onChanged: (app: App) => void }

const firstColor = '#2841ae'

/** Edits how an app looks on its consent page: its logo and its color. Each change is stored at once. */
export function AppPicture({ app, onChanged }: Props) {
  const params = { clientId: app.clientId }
  return (
    <div class="stack">
      <PictureEditor
        current={app.iconUrl}
        name={app.name}
        kind="app"
        toneOf={app.clientId}
        onSave={async (picture) =>
          onChanged(await upload('PUT /api/developer/apps/:clientId/icon', { params }, picture))
        }
        onRemove={async () => onChanged(await call('DELETE /api/developer/apps/:clientId/icon', { params }))}
      />
      <AppColor app={app} onChanged={onChanged} />
    </div>
  )
}

function AppColor({ app, onChanged }: Props) {
  const words = usePictureWords()
  const id = useId()
  const doing = useActions()
  const store = async (color: string | null) => {
    onChanged(
      await call('PATCH /api/developer/apps/:clientId', {
        params: { clientId: app.clientId },
        headers: {},
        body: { color },
      }),
    )
    toast(words.colorSaved)
  }
  const remove: Action = { name: 'remove-color', label: words.remove, look: 'ghost', do: () => store(null) }
  return (
    <div class="field">
      <label for={id}>{words.color}</label>
      <div class="row">
        <input
          id={id}
          class="color"
          type="color"
          name="color"
          value={app.color ?? firstColor}
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget: { value } }) => void doing.perform({ name: 'color', do: () => store(value) })}
        />
        {app.color === null ? <span class="soft">{words.noColor}</span> : <code>{app.color}</code>}
        {app.color !== null && <ActionButton action={remove} doing={doing} />}
      </div>
      <p class="hint" id={`${id}-hint`}>
        {words.colorHint}
      </p>
      <ErrorMessage of={doing.problem} />
    </div>
  )
}
