import { useEffect, useState } from 'preact/hooks'
import { confirmBeforeUnload } from '../../lib/navigation.ts'

/** A form's input that is not sent yet. */
export type DraftState<Draft, Fault> = {
  draft: Draft
  /** The fields with an error. Empty until the user first tries to send the draft. */
  faults: Set<Fault>
  /** True if the draft equals what was last sent. */
  saved: boolean
  write: (change: Partial<Draft>) => void
  /** Changes the draft as it is by then. A draft without a change stays the same. */
  follow: (changeOf: (present: Draft) => Partial<Draft>) => void
  /** Sends the draft if it has no faults. If `send` returns a draft, fields that were not edited meanwhile show it. */
  submit: (send: (draft: Draft) => Promise<Draft | void>) => Promise<void>
}

export function useDraft<Draft extends object, Fault>(
  start: () => Draft,
  faultsOf: (draft: Draft) => Set<Fault>,
): DraftState<Draft, Fault> {
  const [draft, setDraft] = useState(start)
  const [checked, setChecked] = useState(false)
  const [savedDraft, setSavedDraft] = useState<Draft>()
  return {
    draft,
    faults: checked ? faultsOf(draft) : new Set(),
    saved: draft === savedDraft,
    write: (change) => setDraft((present) => ({ ...present, ...change })),
    follow: (changeOf) =>
      setDraft((present) => {
        const change = changeOf(present)
        return Object.keys(change).length === 0 ? present : { ...present, ...change }
      }),
    submit: async (send) => {
      setChecked(true)
      setSavedDraft(undefined)
      if (faultsOf(draft).size > 0) return
      const next = (await send(draft)) ?? draft
      setSavedDraft(next)
      setDraft((present) => rebase(present, draft, next))
    },
  }
}

/** Makes the browser ask before the user leaves the page, as long as it holds what would be lost. */
export function useUnsaved(holds: boolean): void {
  useEffect(() => (holds ? confirmBeforeUnload() : undefined), [holds])
}

/** Returns `next` with what differs from the draft that was sent. */
function rebase<Draft extends object>(present: Draft, sent: Draft, next: Draft): Draft {
  if (present === sent) return next
  const edited = Object.entries(present).filter(([field, value]) => value !== Reflect.get(sent, field))
  return { ...next, ...Object.fromEntries(edited) }
}
