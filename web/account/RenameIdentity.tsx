import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { Identity } from '@countersign/protocol/identities'
import { useState } from 'preact/hooks'
import { call } from '../call.ts'
import { ActionForm } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Field } from '../ui/Field.tsx'
import { useWords } from '../ui/Root.tsx'

type Props = { identity: Identity; onRenamed: (identity: Identity) => void; onClose: () => void }

export function RenameIdentity({ identity, onRenamed, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const [displayName, setDisplayName] = useState(identity.displayName)
  const [checked, setChecked] = useState(false)
  const save: Action = {
    name: 'save',
    label: words.identities.save,
    do: async () => {
      setChecked(true)
      if (!isDisplayName(displayName)) return
      const { identityId } = identity
      onRenamed(await call('PATCH /api/identities/:identityId', { params: { identityId }, body: { displayName } }))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.identities.renameTitle} onClose={onClose}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Field
          name="displayName"
          label={words.register.displayName}
          value={displayName}
          onInput={setDisplayName}
          problem={checked && !isDisplayName(displayName) ? words.register.displayNameInvalid : undefined}
          autocomplete="name"
        />
      </ActionForm>
    </Dialog>
  )
}
