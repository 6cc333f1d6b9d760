import { momentOf } from '../../lib/text/dates.ts'
import { ActionButton } from '../../components/form/Actions.tsx'
import { CopyButton } from '../../components/display/CopyButton.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { useSpeech } from './words.ts'

type Props = {
  name: 'clientSecret' | 'webhookSecret'
  secret: string
  previousUntil: string | undefined
  onSaved: () => void
}

/** Shows a new secret, the only time that anyone can see it. */
export function NewSecret({ name, secret, previousUntil, onSaved }: Props) {
  const { words, language } = useSpeech()
  const doing = useDoing()
  const { title, why, label } = words.developers.newSecrets[name]
  const isOverlapping = previousUntil !== undefined && new Date(previousUntil) > new Date()
  const saved: Action = { name: 'confirm-secret-saved', label: words.developers.secretSaved, do: onSaved }
  return (
    <section class="step told">
      <StepHeading level={name === 'clientSecret' ? 2 : 3}>{title}</StepHeading>
      <p>{why}</p>
      <figure class="code" aria-label={label}>
        <output name={name}>{secret}</output>
      </figure>
      {isOverlapping && <p>{words.developers.previousUntil(momentOf(previousUntil, language))}</p>}
      <div class="actions">
        <CopyButton text={secret} action="copy-secret" />
        <ActionButton action={saved} doing={doing} />
      </div>
    </section>
  )
}
