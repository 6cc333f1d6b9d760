import type { Identity } from '@countersign/protocol/accounts/identities'
import { call, Refused } from '../../../lib/call.ts'
import { withFreshProof } from '../../../lib/passkey.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'

type Props = { identity: Identity; onDeleted: () => void; onClose: () => void }

export function DeleteIdentity({ identity: { identityId, handle }, onDeleted, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const remove: Action = {
    name: 'delete-identity',
    label: words.identities.deleteNow,
    do: async () => {
      const gone = () => call('DELETE /api/identities/:identityId', { params: { identityId } })
      await withFreshProof(gone).catch(acceptGone)
      onDeleted()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.identities.deleteTitle(handle)} onClose={onClose}>
      <p>{words.identities.deleteWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Deleted already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'identity_not_found')) throw error
}
