import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { dayOf } from '../../../lib/text/dates.ts'
import { downloadFile } from '../../../lib/download.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import type { connectionRef } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

const path = '/api/organizations/:organizationId/sso-connections/:connectionId/encryption-key'

type Props = {
  of: SsoConnection
  given: ReturnType<typeof connectionRef>
  onChanged: () => unknown
  onClose: () => void
}

/** The key to which a SAML provider may encrypt its assertions: published, replaced and removed. */
export function EncryptionKey({ of: { saml }, given, onChanged, onClose }: Props) {
  const { encryption: words } = useBusinessMessages()
  const { words: said, language } = useLocale()
  const doing = useActions()
  const published = saml?.encryption
  const make: Action = {
    name: 'make-encryption-key',
    label: published ? words.replace : words.make,
    look: published ? 'secondary' : 'primary',
    do: async () => {
      await act(`POST ${path}`, { ...given, body: null })
      await onChanged()
    },
  }
  const remove: Action = {
    name: 'remove-encryption-key',
    label: words.remove,
    look: 'secondary',
    do: async () => {
      await act(`DELETE ${path}`, { ...given, body: null })
      onClose()
      await onChanged()
    },
  }
  const save: Action = {
    name: 'save-certificate',
    label: words.save,
    do: () => downloadFile(published?.certificate ?? '', 'application/x-pem-file', 'saml-encryption.crt'),
  }
  const cancel: Action = { name: 'cancel', label: said.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p>{words.what}</p>
      {published && <p>{words.published(dayOf(published.expiresAt, language, new Date()))}</p>}
      <Actions of={published ? [save, make, remove, cancel] : [make, cancel]} doing={doing} />
    </Dialog>
  )
}
