import { useState } from 'preact/hooks'
import type { Session } from '../../../lib/session.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { saveExport } from './export.ts'

/** Taking everything along, and leaving for good. */
export function Data({ session }: { session: Session }) {
  const words = useWords().data
  const doing = useDoing()
  const [leaving, setLeaving] = useState(false)
  const save: Action = {
    name: 'export',
    label: words.download,
    look: 'secondary',
    do: () => saveExport(words.fileName),
  }
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead">{words.what}</p>
      <Actions of={[save]} doing={doing} />
      <section class="apart">
        <h2>{words.deleteTitle}</h2>
        <p>{words.deleteWhat}</p>
        <button
          type="button"
          class="button secondary"
          data-action="leave"
          aria-haspopup="dialog"
          onClick={() => setLeaving(true)}
        >
          {words.delete}
        </button>
      </section>
      {leaving && <DeleteAccount session={session} onClose={() => setLeaving(false)} />}
    </section>
  )
}
