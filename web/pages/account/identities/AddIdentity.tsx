import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { emptyDraft, isComplete, isHandleRefused } from '../../../lib/text/identity-draft.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { IdentityFields } from '../../../components/form/IdentityFields.tsx'
import { useWords } from '../../../components/frame/Root.tsx'

type Props = { onAdded: (identity: Identity) => void; onClose: () => void }

export function AddIdentity({ onAdded, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const [draft, setDraft] = useState(emptyDraft)
  const [checked, setChecked] = useState(false)
  const add: Action = {
    name: 'add-identity',
    label: words.identities.create,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft)) return
      const { handle, displayName } = draft
      const added = await call('POST /api/identities', { body: { handle, displayName } }).catch(noteTaken)
      if (added) onAdded(added)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }

  function noteTaken(error: unknown) {
    if (!isHandleRefused(error)) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  return (
    <Dialog title={words.identities.addTitle} onClose={onClose}>
      <ActionForm submit={add} others={[cancel]} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={setDraft} />
      </ActionForm>
    </Dialog>
  )
}
