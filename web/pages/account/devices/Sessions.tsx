import type { WaitingDevice } from '@countersign/protocol/accounts/device-approvals'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { call, Refused } from '../../../lib/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { nameOf } from './device-name.ts'
import { useUnlocking } from './unlocking-flow.ts'
import { UnlockDevice } from './UnlockDevice.tsx'
import { WaitingDevices } from './WaitingDevices.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }

/** Where a person is signed in: this browser, which they leave by signing out, and all others, also those that ask. */
export function Sessions({ holdings, onChange }: Props) {
  const words = useSpeech().words.sessions
  const doing = useDoing()
  const { sessions, devices } = holdings
  const unlocking = useUnlocking(holdings.session.user.userId)
  const others = sessions.filter(({ current }) => !current)
  const keep = (kept: SessionEntry[]) => onChange({ ...holdings, sessions: kept })

  const endOf = (session: SessionEntry): Action => ({
    name: `end-session-${session.sessionId}`,
    label: words.end,
    look: 'quiet',
    do: async () => {
      const { sessionId } = session
      await call('DELETE /api/auth/sessions/:sessionId', { params: { sessionId } }).catch(acceptGone)
      keep(sessions.filter((each) => each !== session))
    },
  })
  const endOthers: Action = {
    name: 'end-other-sessions',
    label: words.endOthers,
    look: 'secondary',
    do: async () => {
      await call('DELETE /api/auth/sessions', {})
      keep(sessions.filter(({ current }) => current))
    },
  }
  const forget = (device: WaitingDevice) =>
    onChange({ ...holdings, devices: devices.filter(({ approvalId }) => approvalId !== device.approvalId) })
  const approve = (device: WaitingDevice) => {
    unlocking.approve(device)
    forget(device)
  }
  if (unlocking.step.at !== 'rest') return <UnlockDevice unlocking={unlocking} step={unlocking.step} />
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <WaitingDevices devices={devices} onApprove={approve} onRefused={forget} />
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
  const { words, language } = useSpeech()
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

/** Ended already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'session_not_found')) throw error
}
