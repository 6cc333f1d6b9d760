import { useState } from 'preact/hooks'

/** What somebody has written and not yet sent. */
export type Drafting<Draft, Fault> = {
  draft: Draft
  /** What is wrong with it: nothing is said of that before they first tried to send it. */
  faults: Set<Fault>
  /** Whether what stands there is what was last sent. */
  saved: boolean
  write: (change: Partial<Draft>) => void
  /** Sends it, unless something is wrong with it. A draft that this answers stands there from then on. */
  keep: (send: (draft: Draft) => Promise<Draft | void>) => Promise<void>
}

export function useDraft<Draft, Fault>(
  start: () => Draft,
  faultsOf: (draft: Draft) => Set<Fault>,
): Drafting<Draft, Fault> {
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
    keep: async (send) => {
      setChecked(true)
      setSaved(false)
      if (faultsOf(draft).size > 0) return
      const kept = await send(draft)
      if (kept !== undefined) setDraft(() => kept)
      setSaved(true)
    },
  }
}
