import type { ComponentChildren } from 'preact'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { RecoveryCode } from '../../../components/unlock/RecoveryCode.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'
import { useReplaceRecoveryCode } from './renewal-flow.ts'

type Props = { data: AccountData; onChange: (data: AccountData) => void; children: ComponentChildren }

/** Shows the recovery code section below `children`. While a new code is created, it takes their place. */
export function ReplaceRecoveryCode({ data, onChange, children }: Props) {
  const words = useLocale().words.passkeys
  const doing = useActions()
  const renewal = useReplaceRecoveryCode(data, onChange)
  const { step } = renewal
  const { user, identities } = data.session
  if (step.at === 'save code') {
    const { recoveryCode, replacement } = step
    return (
      <RecoveryCode
        code={recoveryCode}
        handle={identities[0]?.handle ?? ''}
        opensKeys={data.passkeys.some(({ opensKeys }) => opensKeys)}
        doing={doing}
        onSaved={() => renewal.putInForce(replacement)}
        onCancel={renewal.cancel}
      />
    )
  }
  if (step.at === 'enter code') {
    const { keyWraps, used } = step
    return (
      <RecoveryCodeForm
        keyWraps={keyWraps}
        userId={user.userId}
        doing={doing}
        why={words.codeWhy}
        onOpened={(masterKey) => renewal.openedByCode(used, masterKey)}
        onCancel={renewal.cancel}
      />
    )
  }
  const unlock: Action = { name: 'unlock', label: words.renew, look: 'secondary', do: renewal.openWithPasskey }
  return (
    <section class="step">
      {children}
      <section class="apart">
        <h2>{words.recoveryTitle}</h2>
        <div role="status">{step.renewed ? <p>{words.renewed}</p> : <Standing since={data.recoverySince} />}</div>
        <Actions of={[unlock]} doing={doing} />
      </section>
    </section>
  )
}

/** Says whether there is a current recovery code. A used one restores no access. */
function Standing({ since }: { since: string | null }) {
  const { words, language } = useLocale()
  const { recoverySince, recoveryWhy, recoveryNone } = words.passkeys
  if (since === null) return <p class="problem">{recoveryNone}</p>
  return (
    <p>
      {recoverySince(dayOf(since, language, new Date()))} {recoveryWhy}
    </p>
  )
}
