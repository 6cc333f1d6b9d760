import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useState } from 'preact/hooks'
import { ActionForm } from '../form/Actions.tsx'
import { AskAnotherDevice } from './AskAnotherDevice.tsx'
import type { Action, Doing } from '../form/doing.ts'
import { Field } from '../form/Field.tsx'
import { useWords } from '../frame/Root.tsx'
import { StepHeading } from '../frame/StepHeading.tsx'

type Props = {
  keyWraps: KeyWrap[]
  userId: string
  doing: Doing
  /** Why it is asked for. */
  why: string
  /** What the button does, where that is more than to open the keys; then the page has its heading already. */
  label?: string
  others?: Action[]
  onOpened: (masterKey: MasterKey) => unknown
  onCancel: () => void
}

/** Opens the keys with the present recovery code, or another device, for those whose passkey can't. */
export function EnterCode({ keyWraps, userId, doing, why, label, others = [], onOpened, onCancel }: Props) {
  const words = useWords()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isAsking, setIsAsking] = useState(false)
  const level = label === undefined ? 1 : 2
  if (isAsking)
    return <AskAnotherDevice userId={userId} level={level} onOpened={onOpened} onTurnBack={() => setIsAsking(false)} />
  const unlock: Action = {
    name: 'unlock',
    label: label ?? words.passkeys.openWithCode,
    do: async () => {
      const vault = await import('../../lib/vault.ts')
      const code = vault.readRecoveryCode(typed)
      if (code === undefined) return setProblem(words.passkeys.codeMalformed)
      const masterKey = await vault.openWithCode(keyWraps, code, userId)
      if (!masterKey) return setProblem(words.passkeys.codeWrong)
      await onOpened(masterKey)
    },
  }
  const ask: Action = { name: 'ask-device', label: words.devices.ask, look: 'quiet', do: () => setIsAsking(true) }
  // Only what a passkey opens elsewhere can another device pass on.
  const asks = keyWraps.some(({ kind }) => kind === 'passkey_prf') ? [ask] : []
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onCancel }
  const write = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  return (
    <section class="step">
      <StepHeading level={level}>{words.passkeys.codeTitle}</StepHeading>
      <p>{why}</p>
      <ActionForm submit={unlock} others={[...asks, ...others, cancel]} doing={doing}>
        <Field name="recoveryCode" label={words.recovery.label} value={typed} onInput={write} problem={problem} exact />
      </ActionForm>
    </section>
  )
}
