import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { useActivityMessages } from '../../../components/display/activity-words.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { ReturnedAct } from '../../../lib/acts/returning.ts'
import { useConsoleMessages } from '../console-words.ts'
import { hasKeptInput } from './kept-input.ts'

/** Says what became of the act that the user was to sign. It takes the focus, so that screen readers begin with it. */
export function ReturnedActNote({ of: { action, outcome } }: { of: ReturnedAct }) {
  const { outcomes } = useConsoleMessages().signedActs
  const { activity } = useActivityMessages()
  const note = useRef<HTMLDivElement>(null)
  useEffect(() => note.current?.focus(), [])
  const isDeleted = outcome === 'done' && action === 'organization.deleted'
  const names: Partial<Record<string, string>> = activity.acts
  const isGood = outcome === 'done' || outcome === 'proposed'
  return (
    <div
      ref={note}
      class={`note returned-act ${isGood ? 'ok' : 'wait'}`}
      role="status"
      tabIndex={-1}
      data-outcome={outcome}
    >
      <Icon name={isGood ? 'circle-check' : 'circle-alert'} />
      <div>{outcomes[isDeleted ? 'deleted' : outcome](names[action] ?? activity.other)}</div>
    </div>
  )
}

/** The act that the user has just signed, or not signed, for the dialogs of the page. */
export const ReturnedActContext = createContext<ReturnedAct | undefined>(undefined)

/**
 * Returns the note for a dialog that opens again with the input of an act that was not signed: it covers the one on the
 * page. Call it before the fields take the input.
 */
export function useReopenedNote(form: string) {
  const returned = useContext(ReturnedActContext)
  const [isReopened] = useState(() => hasKeptInput(form))
  return isReopened && returned ? <ReturnedActNote of={returned} /> : null
}
