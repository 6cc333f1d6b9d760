import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { call, Refused } from '../../../lib/call.ts'
import { withFreshProof } from '../../../lib/passkey.ts'
import { mustSignIn } from '../../../lib/session.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { lossOf } from './loss.ts'

type Props = {
  passkey: Passkey
  holdings: Holdings
  /** Told the sessions that are left. */
  onRemoved: (sessions: SessionEntry[]) => void
  onClose: () => void
}

/** Says what would be lost with a passkey, and removes it. */
export function Removal({ passkey, holdings, onRemoved, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const { credentialId, name } = passkey
  const loss = lossOf(passkey, holdings)
  const remove: Action = {
    name: 'remove-passkey',
    label: words.passkeys.removeNow,
    do: async () => {
      await withFreshProof(() => call('DELETE /api/auth/passkeys/:credentialId', { params: { credentialId } })).catch(
        acceptGone,
      )
      const { sessions } = await call('GET /api/auth/sessions', {}).catch(leave)
      onRemoved(sessions)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.passkeys.removeTitle(name)} onClose={onClose}>
      <p>{words.passkeys.removeWhat}</p>
      {loss && <p class="problem">{words.passkeys.losses[loss]}</p>}
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Removed already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'passkey_not_found')) throw error
}

/** The session here ends with the passkey that opened it: whoever removes that signs in with another one. */
function leave(error: unknown): { sessions: SessionEntry[] } {
  if (!mustSignIn(error)) throw error
  location.replace('/login')
  return { sessions: [] }
}
