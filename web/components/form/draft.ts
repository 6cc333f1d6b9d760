import { useState } from 'preact/hooks'

/** A form's input that is not sent yet. */
export type DraftState<Draft, Fault> = {
  draft: Draft
  /** The fields with an error. Empty until the user first tries to send the draft. */
  faults: Set<Fault>
  /** True if the draft equals what was last sent. */
  saved: boolean
  write: (change: Partial<Draft>) => void
  /** Sends the draft if it has no faults. If `send` returns a draft, that one replaces the input. */
  submit: (send: (draft: Draft) => Promise<Draft | void>) => Promise<void>
}

export function useDraft<Draft, Fault>(
  start: () => Draft,
  faultsOf: (draft: Draft) => Set<Fault>,
): DraftState<Draft, Fault> {
  const [draft, setDraft] = useState(start)
  const [checked, setChecked] = useState(false)
  const [saved, setSaved] = useState(false)
  return {
    draft,
    faults: checked ? faultsOf(draft) : new Set(),
    saved,
    write: (change) => {
      setSaved(false)
      setDraft({ ...draft, ...change })
    },
    submit: async (send) => {
      setChecked(true)
      setSaved(false)
      if (faultsOf(draft).size > 0) return
      const result = await send(draft)
      if (result !== undefined) setDraft(() => result)
      setSaved(true)
    },
  }
}
