import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import { withFreshProof } from '../../lib/passkey.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { Dialog } from '../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { Field } from '../../components/form/Field.tsx'
import { useWords } from './words.ts'

type Props = { app: App; onDeleted: () => void }

export function AppEnd({ app, onDeleted }: Props) {
  const words = useWords().developers
  const [asking, setAsking] = useState(false)
  return (
    <section class="step apart">
      <h2>{words.deleteTitle}</h2>
      <p>{words.deleteWhat}</p>
      <p>
        <button
          type="button"
          class="button secondary"
          data-action="end-app"
          aria-haspopup="dialog"
          onClick={() => setAsking(true)}
        >
          {words.deleteTitle}
        </button>
      </p>
      {asking && <DeleteApp app={app} onDeleted={onDeleted} onClose={() => setAsking(false)} />}
    </section>
  )
}

/** The last question before an app goes. Its name is written, so that nobody says yes by habit. */
function DeleteApp({ app: { clientId, name }, onDeleted, onClose }: Props & { onClose: () => void }) {
  const words = useWords()
  const doing = useDoing()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const matches = typed.trim() === name.trim()
  const remove: Action = {
    name: 'delete-app',
    label: words.developers.deleteNow,
    do: async () => {
      setChecked(true)
      if (!matches) return
      const gone = () => call('DELETE /api/developer/apps/:clientId', { params: { clientId } })
      await withFreshProof(gone).catch(acceptGone)
      onDeleted()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
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

/** Deleted already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'app_not_found')) throw error
}
