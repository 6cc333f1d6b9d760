import { useEffect, useRef } from 'preact/hooks'
import { useMessages } from '../../../components/frame/Root.tsx'
import type { ReturnedAct } from '../../../lib/acts/returning.ts'
import { useBusinessMessages } from '../words.ts'

/** Says what became of the act that the user was to sign. It takes the focus, so that screen readers begin with it. */
export function ReturnedActNote({ of: { action, outcome } }: { of: ReturnedAct }) {
  const { outcomes } = useBusinessMessages().signedActs
  const { activity } = useMessages()
  const note = useRef<HTMLParagraphElement>(null)
  useEffect(() => note.current?.focus(), [])
  const isDeleted = outcome === 'done' && action === 'organization.deleted'
  const names: Partial<Record<string, string>> = activity.acts
  return (
    <p ref={note} class="returned-act" role="status" tabIndex={-1} data-outcome={outcome}>
      {outcomes[isDeleted ? 'deleted' : outcome](names[action] ?? activity.other)}
    </p>
  )
}
