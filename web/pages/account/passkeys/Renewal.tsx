import type { ComponentChildren } from 'preact'
import { dayOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { RecoveryCode } from '../../../components/unlock/RecoveryCode.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { EnterCode } from '../../../components/unlock/EnterCode.tsx'
import { useRenewal } from './renewal-flow.ts'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void; children: ComponentChildren }

/** The recovery code, below what is passed in; while a new one is made, in its place. */
export function Renewal({ holdings, onChange, children }: Props) {
  const words = useSpeech().words.passkeys
  const doing = useDoing()
  const renewal = useRenewal(holdings, onChange)
  const { step } = renewal
  const { user, identities } = holdings.session
  if (step.at === 'save code') {
    const { recoveryCode, replacement } = step
    return (
      <RecoveryCode
        code={recoveryCode}
        handle={identities[0]?.handle ?? ''}
        opensKeys={holdings.passkeys.some(({ opensKeys }) => opensKeys)}
        doing={doing}
        onSaved={() => renewal.putInForce(replacement)}
        onCancel={renewal.cancel}
      />
    )
  }
  if (step.at === 'enter code') {
    const { keyWraps, used } = step
    return (
      <EnterCode
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
        <div role="status">{step.renewed ? <p>{words.renewed}</p> : <Standing since={holdings.recoverySince} />}</div>
        <Actions of={[unlock]} doing={doing} />
      </section>
    </section>
  )
}

/** Whether a recovery code is in force: one that was used, or never made, helps nobody who lost their passkeys. */
function Standing({ since }: { since: string | null }) {
  const { words, language } = useSpeech()
  const { recoverySince, recoveryWhy, recoveryNone } = words.passkeys
  if (since === null) return <p class="problem">{recoveryNone}</p>
  return (
    <p>
      {recoverySince(dayOf(since, language, new Date()))} {recoveryWhy}
    </p>
  )
}
