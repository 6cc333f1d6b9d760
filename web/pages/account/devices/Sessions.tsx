import type { PendingDeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { call, ApiError } from '../../../lib/api/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { nameOf } from './device.ts'
import { useDeviceApproval } from './unlocking-flow.ts'
import { UnlockDevice } from './UnlockDevice.tsx'
import { PendingDeviceApprovals } from './WaitingDevices.tsx'

type Props = { data: AccountData; onChange: (data: AccountData) => void }

/**
 * Lists the user's sessions: this browser, which they leave by signing out, and the other ones, also those that wait to
 * be unlocked.
 */
export function Sessions({ data, onChange }: Props) {
  const words = useLocale().words.sessions
  const doing = useActions()
  const { sessions, devices } = data
  const unlocking = useDeviceApproval(data.session.user.userId)
  const others = sessions.filter(({ current }) => !current)
  const updateSessions = (updated: SessionEntry[]) => onChange({ ...data, sessions: updated })

  const endOf = (session: SessionEntry): Action => ({
    name: `end-session-${session.sessionId}`,
    label: words.end,
    look: 'quiet',
    do: async () => {
      const { sessionId } = session
      await call('DELETE /api/auth/sessions/:sessionId', { params: { sessionId } }).catch(acceptGone)
      updateSessions(sessions.filter((each) => each !== session))
    },
  })
  const endOthers: Action = {
    name: 'end-other-sessions',
    label: words.endOthers,
    look: 'secondary',
    do: async () => {
      await call('DELETE /api/auth/sessions', {})
      updateSessions(sessions.filter(({ current }) => current))
    },
  }
  const forget = (device: PendingDeviceApproval) =>
    onChange({ ...data, devices: devices.filter(({ approvalId }) => approvalId !== device.approvalId) })
  const approve = (device: PendingDeviceApproval) => {
    unlocking.approve(device)
    forget(device)
  }
  if (unlocking.step.at !== 'rest') return <UnlockDevice unlocking={unlocking} step={unlocking.step} />
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <PendingDeviceApprovals devices={devices} onApprove={approve} onRefused={forget} />
      <ul class="entries">
        {sessions.map((session) => (
          <li key={session.sessionId} class="entry">
            <Description of={session} />
            {session.current ? (
              <p class="present">{words.thisOne}</p>
            ) : (
              <ActionButton action={endOf(session)} doing={doing} />
            )}
          </li>
        ))}
      </ul>
      <Actions of={others.length > 0 ? [endOthers] : []} doing={doing} />
      <p>{words.appsStay}</p>
    </section>
  )
}

function Description({ of: { userAgent, createdAt, lastSeenAt } }: { of: SessionEntry }) {
  const { words, language } = useLocale()
  const { since, seen } = words.sessions
  const now = new Date()
  return (
    <div>
      <h2>{nameOf({ userAgent }, words)}</h2>
      <p>
        {since(dayOf(createdAt, language, now))}, {seen(dayOf(lastSeenAt, language, now))}
      </p>
    </div>
  )
}

/** Ignores that the session was already ended from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'session_not_found')) throw error
}
