import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useWords } from '../../../components/frame/Root.tsx'

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
