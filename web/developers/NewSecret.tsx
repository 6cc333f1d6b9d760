import { momentOf } from '../dates.ts'
import { ActionButton } from '../ui/Actions.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useSpeech } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import type { Told } from './Developers.tsx'

/** Shows a new secret, the only time that anyone can see it. */
export function NewSecret({ told, onSaved }: { told: Told; onSaved: () => void }) {
  const { words, language } = useSpeech()
  const doing = useDoing()
  const { clientSecret, previousUntil } = told
  const isOverlapping = previousUntil !== undefined && new Date(previousUntil) > new Date()
  const saved: Action = { name: 'confirm-secret-saved', label: words.developers.secretSaved, do: onSaved }
  return (
    <section class="step told">
      <StepHeading level={2}>{words.developers.secretTitle}</StepHeading>
      <p>{words.developers.secretWhy}</p>
      <figure class="code" aria-label={words.developers.secret}>
        <output name="clientSecret">{clientSecret}</output>
      </figure>
      {isOverlapping && <p>{words.developers.previousUntil(momentOf(previousUntil, language))}</p>}
      <div class="actions">
        <CopyButton text={clientSecret} action="copy-secret" />
        <ActionButton action={saved} doing={doing} />
      </div>
    </section>
  )
}
