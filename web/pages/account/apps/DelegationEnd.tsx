import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { call, Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { readDelegations } from './delegation-list.ts'

type Props = {
  delegation: Delegation
  handle: string
  onEnded: (delegations: Delegation[]) => void
  onClose: () => void
}

export function DelegationEnd({ delegation, handle, onEnded, onClose }: Props) {
  const { delegations: words, frame } = useWords()
  const doing = useDoing()
  const { id, sourceAppName, targetAppName } = delegation
  const revoke: Action = {
    name: 'revoke',
    label: words.revokeNow,
    do: async () => {
      const params = { delegationId: id }
      await call('DELETE /api/oauth/delegations/:delegationId', { params }).catch(acceptEnded)
      onEnded(await readDelegations())
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.revokeTitle(sourceAppName, targetAppName)} onClose={onClose}>
      <p>{words.revokeWhat(sourceAppName, handle)}</p>
      <Actions of={[revoke, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Ended already, from another tab or with one of the apps: what the person wants is so. */
function acceptEnded(error: unknown): void {
  const isEnded = error instanceof Refused && ['already_revoked', 'delegation_not_found'].includes(error.code)
  if (!isEnded) throw error
}
