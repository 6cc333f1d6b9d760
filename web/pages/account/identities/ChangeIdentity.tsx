import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { isComplete, isHandleRefused, type IdentityDraft } from '../../../lib/text/identity-draft.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { IdentityFields } from '../../../components/form/IdentityFields.tsx'
import { useWords } from '../../../components/frame/Root.tsx'

type Props = { identity: Identity; onChanged: (identity: Identity) => void; onClose: () => void }

/** The name that people see, and the username. */
export function ChangeIdentity({ identity, onChanged, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const { identityId, handle, displayName } = identity
  const [draft, setDraft] = useState<IdentityDraft>({ handle, displayName, taken: [] })
  const [checked, setChecked] = useState(false)
  const save: Action = {
    name: 'save',
    label: words.identities.save,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft)) return
      // A username that stays is not sent: it is no change of username.
      const body = { displayName: draft.displayName, ...(draft.handle !== handle && { handle: draft.handle }) }
      const changed = await call('PATCH /api/identities/:identityId', { params: { identityId }, body }).catch(noteTaken)
      if (changed) onChanged(changed)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }

  function noteTaken(error: unknown) {
    if (!isHandleRefused(error)) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  return (
    <Dialog title={words.identities.changeTitle} onClose={onClose}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={setDraft} />
        <p>{words.identities.handleKept}</p>
      </ActionForm>
    </Dialog>
  )
}
