import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useState } from 'preact/hooks'
import { ActionForm } from '../form/Actions.tsx'
import { RequestDeviceUnlock } from './RequestDeviceUnlock.tsx'
import type { Action, ActionState } from '../form/use-actions.ts'
import { Field } from '../form/Field.tsx'
import { useMessages } from '../frame/Root.tsx'
import { StepHeading } from '../frame/Frame.tsx'

type Props = {
  keyWraps: KeyWrap[]
  userId: string
  doing: ActionState
  /** The reason why the page needs the recovery code. */
  why: string
  /** The label of the button if it does more than unlock the keys. The page then has its own heading. */
  label?: string
  others?: Action[]
  onOpened: (masterKey: MasterKey) => unknown
  onCancel: () => void
}

/** Unlocks the keys with the current recovery code, or with another device, if the user's passkey cannot. */
export function RecoveryCodeForm({ keyWraps, userId, doing, why, label, others = [], onOpened, onCancel }: Props) {
  const words = useMessages()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isRequesting, setIsRequesting] = useState(false)
  const level = label === undefined ? 1 : 2
  if (isRequesting)
    return (
      <RequestDeviceUnlock
        userId={userId}
        level={level}
        onOpened={onOpened}
        onTurnBack={() => setIsRequesting(false)}
      />
    )
  const unlock: Action = {
    name: 'unlock',
    label: label ?? words.passkeys.openWithCode,
    do: async () => {
      const vault = await import('../../lib/keys/key-vault.ts')
      const code = vault.parseRecoveryCode(typed)
      if (code === undefined) return setProblem(words.passkeys.codeMalformed)
      const masterKey = await vault.unlockWithRecoveryCode(keyWraps, code, userId)
      if (!masterKey) return setProblem(words.passkeys.codeWrong)
      await onOpened(masterKey)
    },
  }
  const useDevice: Action = {
    name: 'ask-device',
    label: words.devices.useDevice,
    look: 'quiet',
    do: () => setIsRequesting(true),
  }
  // Another device can only share keys that one of its passkeys unlocks.
  const alternatives = keyWraps.some(({ kind }) => kind === 'passkey_prf') ? [useDevice] : []
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onCancel }
  const write = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  return (
    <section class="step">
      <StepHeading level={level}>{words.passkeys.codeTitle}</StepHeading>
      <p>{why}</p>
      <ActionForm submit={unlock} others={[...alternatives, ...others, cancel]} doing={doing}>
        <Field name="recoveryCode" label={words.recovery.label} value={typed} onInput={write} problem={problem} exact />
      </ActionForm>
    </section>
  )
}
