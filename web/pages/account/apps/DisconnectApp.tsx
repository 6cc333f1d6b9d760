import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { ApiError, call } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../words.ts'
import { useAccountWords } from '../words.ts'
import { fetchDelegations } from './delegation-list.ts'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import { pairOf } from './Delegations.tsx'

type RevokeDelegationProps = {
  delegation: Delegation
  handle: string
  onEnded: (delegations: Delegation[]) => void
  onClose: () => void
}

export function RevokeDelegation({ delegation, handle, onEnded, onClose }: RevokeDelegationProps) {
  const { delegations: words, frame } = useMessages()
  const doing = useActions()
  const { id, sourceAppName, targetAppName } = delegation
  const revoke: Action = {
    name: 'revoke',
    label: words.revokeNow,
    look: 'danger',
    do: async () => {
      const params = { delegationId: id }
      await call('DELETE /api/oauth/delegations/:delegationId', { params }).catch(acceptEnded)
      onEnded(await fetchDelegations())
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

/** Ignores that the delegation ended already, from another tab or with one of the apps. */
function acceptEnded(error: unknown): void {
  const isEnded = error instanceof ApiError && ['already_revoked', 'delegation_not_found'].includes(error.code)
  if (!isEnded) throw error
}

type DisconnectAppProps = {
  authorization: Authorization
  handle: string
  /** The delegations that end with the app. */
  ending: Delegation[]
  onRevoked: (delegations: Delegation[]) => void
  onClose: () => void
}

export function DisconnectApp({ authorization, handle, ending, onRevoked, onClose }: DisconnectAppProps) {
  const { id, appName, encryptionMode } = authorization
  const words = useMessages()
  const own = useAccountWords().apps
  const doing = useActions()
  const revoke: Action = {
    name: 'revoke',
    label: words.apps.revoke,
    look: 'danger',
    do: async () => {
      await call('DELETE /api/oauth/authorizations/:id', { params: { id } }).catch(acceptGone)
      onRevoked(await fetchDelegations())
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.apps.revokeTitle(appName)} onClose={onClose}>
      <p>{words.apps.revokeWhat(appName, handle)}</p>
      {ending.length > 0 && <p>{words.apps.endsToo(ending.map((each) => pairOf(each, words.delegations)))}</p>}
      {encryptionMode !== null && <p class="problem">{words.apps.keyLost}</p>}
      <p>{own.staysSigned}</p>
      <Actions of={[revoke, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Ignores that the app was already disconnected from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}
