import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { useState } from 'preact/hooks'
import { call, ApiError } from '../../../lib/api/call.ts'
import { formatAgo, formatMomentInSentence } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog, ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { useLocale, useMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { SectionProps } from '../account-data.ts'
import { doUnlessUndone } from '../undoable.ts'
import { useAccountWords } from '../words.ts'
import { deviceIcon, nameOf } from './device.ts'

/** Lists the user's sessions: this browser, which they leave by signing out, and the other ones, which they end. */
export function Sessions({ data, onChange }: SectionProps) {
  const words = useAccountWords().security
  const shared = useMessages()
  const [problem, setProblem] = useState<unknown>()
  const [asking, setAsking] = useState(false)
  const { sessions } = data
  const others = sessions.filter(({ current }) => !current)
  const setSessions = (change: (all: SessionEntry[]) => SessionEntry[]) =>
    onChange((current) => ({ ...current, sessions: change(current.sessions) }))

  /** Takes the session from the list at once, and ends it unless the user takes that back. */
  const end = (session: SessionEntry) => {
    const params = { sessionId: session.sessionId }
    setSessions((all) => all.filter((each) => each !== session))
    const putBack = () => setSessions((all) => [...all, session].toSorted(byLastUse))
    const work = () => call('DELETE /api/auth/sessions/:sessionId', { params }).catch(acceptGone)
    setProblem(undefined)
    // Another session can be ended before this one is.
    doUnlessUndone(words.ended(nameOf(session, shared)), work, putBack).catch((error: unknown) => {
      putBack()
      setProblem(error)
    })
  }
  return (
    <Card
      flush
      title={words.sessions}
      foot={<p>{shared.sessions.appsStay}</p>}
      {...(others.length > 0 && {
        actions: (
          <button
            type="button"
            class="button danger-quiet"
            data-action="end-other-sessions"
            aria-haspopup="dialog"
            onClick={() => setAsking(true)}
          >
            {words.endOthers}
          </button>
        ),
      })}
    >
      <ErrorMessage of={problem} />
      <ul class="list">
        {sessions.map((session) => (
          <Entry key={session.sessionId} of={session} onEnd={() => end(session)} />
        ))}
      </ul>
      {asking && (
        <EndOtherSessions
          onEnded={() => {
            setSessions((all) => all.filter(({ current }) => current))
            setAsking(false)
            toast(words.othersEnded)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}

function Entry({ of: session, onEnd }: { of: SessionEntry; onEnd: () => void }) {
  const words = useAccountWords().security
  const { words: shared, language } = useLocale()
  const { sessionId, userAgent, createdAt, lastSeenAt, current, authMethod, passkey } = session
  const now = new Date()
  const name = nameOf(session, shared)
  const facts = [
    words.seen(formatAgo(lastSeenAt, language, now)),
    words.started(formatMomentInSentence(createdAt, language, now)),
    authMethod === 'enterprise_sso' && words.withSso,
    passkey && words.withPasskey(passkey.name),
  ]
  return (
    <li data-session-id={sessionId}>
      <span class={current ? 'glyph ok' : 'glyph'}>
        <Icon name={deviceIcon(userAgent)} />
      </span>
      <div class="body">
        <strong>
          {name}
          {current && <Chip tone="ok">{words.thisDevice}</Chip>}
        </strong>
        <small>{facts.filter(Boolean).join(' · ')}</small>
      </div>
      {!current && (
        <div class="acts">
          <button
            type="button"
            class="button"
            data-action={`end-session-${sessionId}`}
            aria-label={words.endOne(name)}
            onClick={onEnd}
          >
            {words.end}
          </button>
        </div>
      )}
    </li>
  )
}

type EndOtherSessionsProps = { onEnded: () => void; onClose: () => void }

function EndOtherSessions({ onEnded, onClose }: EndOtherSessionsProps) {
  const words = useAccountWords().security
  const { frame } = useMessages()
  const doing = useActions()
  const end: Action = {
    name: 'confirm-end-other-sessions',
    label: words.endOthers,
    look: 'danger',
    do: async () => {
      await call('DELETE /api/auth/sessions', {})
      onEnded()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'ghost', do: onClose }
  return (
    <Dialog title={words.endOthersTitle} onClose={onClose}>
      <p>{words.endOthersWhat}</p>
      <Actions of={[end, cancel]} doing={doing} />
    </Dialog>
  )
}

function byLastUse(one: SessionEntry, other: SessionEntry): number {
  return other.lastSeenAt.localeCompare(one.lastSeenAt)
}

/** Ignores that the session was already ended from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'session_not_found')) throw error
}
