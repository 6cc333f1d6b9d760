import type { MasterKey } from '@countersign/keys/master-key'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../call.ts'
import { dayOf } from '../dates.ts'
import { reauthenticate, withFreshProof } from '../passkey.ts'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { RecoveryCode } from '../ui/RecoveryCode.tsx'
import { useSpeech } from '../ui/Root.tsx'
import type { Holdings } from './Account.tsx'
import { EnterCode } from './EnterCode.tsx'
import { nextStep, type Event, type Replacement, type Step } from './renewal-steps.ts'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void; children: ComponentChildren }

const loadVault = () => import('../vault.ts')

/** The recovery code, below what is passed in; while a new one is made, in its place. */
export function Renewal({ holdings, onChange, children }: Props) {
  const words = useSpeech().words.passkeys
  const doing = useDoing()
  const [step, setStep] = useState<Step>({ at: 'rest', renewed: false })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const { user, identities } = holdings.session

  async function openWithPasskey() {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, user.userId)
    if (!masterKey) return go({ type: 'passkey opens nothing', keyWraps })
    await renew(masterKey)
  }

  async function renew(masterKey: MasterKey) {
    const vault = await loadVault()
    const { recoveryCode, replacement } = await vault.renewRecoveryCode(masterKey, user.userId)
    masterKey.forget()
    go({ type: 'opened', recoveryCode, replacement })
  }

  async function putInForce(replacement: Replacement) {
    // Writing a code down may take longer than a proof of presence lasts.
    await withFreshProof(() => call('PUT /api/account/recovery', { body: replacement }))
    onChange({ ...holdings, recoverySince: new Date().toISOString(), codeOpensKeys: true })
    go({ type: 'in force' })
  }

  if (step.at === 'save code') {
    const { recoveryCode, replacement } = step
    return (
      <RecoveryCode
        code={recoveryCode}
        handle={identities[0]?.handle ?? ''}
        opensKeys={holdings.passkeys.some(({ opensKeys }) => opensKeys)}
        doing={doing}
        onSaved={() => putInForce(replacement)}
        onCancel={() => go({ type: 'cancelled' })}
      />
    )
  }
  if (step.at === 'enter code') {
    return (
      <EnterCode
        keyWraps={step.keyWraps}
        userId={user.userId}
        doing={doing}
        why={words.codeWhy}
        onOpened={renew}
        onCancel={() => go({ type: 'cancelled' })}
      />
    )
  }
  const unlock: Action = { name: 'unlock', label: words.renew, look: 'secondary', do: openWithPasskey }
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
