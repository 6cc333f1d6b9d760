import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { call, Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { readDelegations } from './delegation-list.ts'
import { pairOf } from './Delegations.tsx'

type Props = {
  authorization: Authorization
  handle: string
  /** What ends with the app, of what apps may do at others. */
  ending: Delegation[]
  onRevoked: (delegations: Delegation[]) => void
  onClose: () => void
}

export function Revocation({ authorization, handle, ending, onRevoked, onClose }: Props) {
  const { id, appName, encryptionMode } = authorization
  const words = useWords()
  const doing = useDoing()
  const revoke: Action = {
    name: 'revoke',
    label: words.apps.revoke,
    do: async () => {
      await call('DELETE /api/oauth/authorizations/:id', { params: { id } }).catch(acceptGone)
      onRevoked(await readDelegations())
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.apps.revokeTitle(appName)} onClose={onClose}>
      <p>{words.apps.revokeWhat(appName, handle)}</p>
      {ending.length > 0 && <p>{words.apps.endsToo(ending.map((each) => pairOf(each, words.delegations)))}</p>}
      {encryptionMode !== null && <p class="problem">{words.apps.keyLost}</p>}
      <Actions of={[revoke, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Disconnected already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.status === 404)) throw error
}
