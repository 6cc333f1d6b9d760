import type { Authorization } from '@countersign/protocol/authorizations'
import { call, Refused } from '../call.ts'
import { Actions } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'

type Props = { authorization: Authorization; handle: string; onRevoked: () => void; onClose: () => void }

export function Revocation({ authorization: { id, appName, encryptionMode }, handle, onRevoked, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const revoke: Action = {
    name: 'revoke',
    label: words.apps.revoke,
    do: async () => {
      await call('DELETE /api/oauth/authorizations/:id', { params: { id } }).catch(acceptGone)
      onRevoked()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.apps.revokeTitle(appName)} onClose={onClose}>
      <p>{words.apps.revokeWhat(appName, handle)}</p>
      {encryptionMode !== null && <p class="problem">{words.apps.keyLost}</p>}
      <Actions of={[revoke, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Disconnected already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.status === 404)) throw error
}
