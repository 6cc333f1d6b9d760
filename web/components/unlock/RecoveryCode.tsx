import { Actions } from '../form/Actions.tsx'
import { CopyButton } from '../display/Copies.tsx'
import type { Action, ActionState } from '../form/use-actions.ts'
import { StepHeading } from '../frame/Frame.tsx'
import { useMessages } from '../frame/Root.tsx'

type RecoveryCodeProps = {
  code: string
  handle: string
  opensKeys: boolean
  doing: ActionState
  onSaved: () => unknown
  onCancel?: () => void
}

/** Four groups of four with their dashes: half of a code, which fits on one line. */
const halfCharacters = 20

/** Shows a new recovery code. It cannot be shown again. */
export function RecoveryCode({ code, handle, opensKeys, doing, onSaved, onCancel }: RecoveryCodeProps) {
  const { recovery: words, frame } = useMessages()
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

function Keeping({ code, handle }: Pick<RecoveryCodeProps, 'code' | 'handle'>) {
  const words = useMessages().recovery
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

type ConfirmPasskeyAgainProps = { doing: ActionState; onTouch: () => Promise<void>; onGoWithout: () => Promise<void> }

/** Asks for the new passkey once more, because its registration did not evaluate the PRF. */
export function ConfirmPasskeyAgain({ doing, onTouch, onGoWithout }: ConfirmPasskeyAgainProps) {
  const words = useMessages().register
  const actions: Action[] = [
    { name: 'unlock', label: words.touchAgain, do: onTouch },
    { name: 'go-without', label: words.withoutPrf, look: 'quiet', do: onGoWithout },
  ]
  return (
    <section class="step">
      <StepHeading>{words.madeTitle}</StepHeading>
      <p>{words.touchAgainWhy}</p>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
