import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { Passkey } from '@countersign/protocol/passkeys'
import { useState } from 'preact/hooks'
import { call } from '../call.ts'
import { ActionForm } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Field } from '../ui/Field.tsx'
import { useWords } from '../ui/Root.tsx'

type Props = { passkey: Passkey; onRenamed: (passkey: Passkey) => void; onClose: () => void }

export function RenamePasskey({ passkey, onRenamed, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const [name, setName] = useState(passkey.name)
  const [checked, setChecked] = useState(false)
  const save: Action = {
    name: 'save',
    label: words.identities.save,
    do: async () => {
      setChecked(true)
      if (!isDisplayName(name)) return
      const { credentialId } = passkey
      onRenamed(await call('PATCH /api/auth/passkeys/:credentialId', { params: { credentialId }, body: { name } }))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.passkeys.renameTitle} onClose={onClose}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Field
          name="passkeyName"
          label={words.passkeys.name}
          value={name}
          onInput={setName}
          problem={checked && !isDisplayName(name) ? words.register.displayNameInvalid : undefined}
        />
      </ActionForm>
    </Dialog>
  )
}
