import { Actions } from '../form/Actions.tsx'
import { CopyButton } from '../display/CopyButton.tsx'
import type { Action, Doing } from '../form/doing.ts'
import { StepHeading } from '../frame/StepHeading.tsx'
import { useWords } from '../frame/Root.tsx'

type Props = {
  code: string
  handle: string
  opensKeys: boolean
  doing: Doing
  onSaved: () => unknown
  onCancel?: () => void
}

/** Four groups of four with their dashes: the half of a code that stands on a line. */
const halfCharacters = 20

/** Shows a new recovery code, the only time that anyone can see it. */
export function RecoveryCode({ code, handle, opensKeys, doing, onSaved, onCancel }: Props) {
  const { recovery: words, frame } = useWords()
  const saved: Action = { name: 'confirm-recovery-saved', label: words.saved, do: onSaved }
  const cancel: Action[] = onCancel ? [{ name: 'cancel', label: frame.cancel, look: 'quiet', do: onCancel }] : []
  return (
    <section class="step">
      <StepHeading>{words.title}</StepHeading>
      <p>{opensKeys ? words.why : words.whyWithoutPrf}</p>
      <figure class="code" aria-label={words.label}>
        <output name="recoveryCode">
          <span>{code.slice(0, halfCharacters)}</span>
          <span>{code.slice(halfCharacters)}</span>
        </output>
      </figure>
      <Keeping code={code} handle={handle} />
      <Actions of={[saved, ...cancel]} doing={doing} />
    </section>
  )
}

function Keeping({ code, handle }: Pick<Props, 'code' | 'handle'>) {
  const words = useWords().recovery
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(words.fileText(code, location.host, handle))}`
  return (
    <ul class="keeping">
      <li>
        <CopyButton text={code} action="copy-code" />
      </li>
      <li>
        <a class="button secondary" href={file} download={words.fileName}>
          {words.download}
        </a>
      </li>
      <li>
        <button type="button" class="button secondary" onClick={() => print()}>
          {words.print}
        </button>
      </li>
    </ul>
  )
}
