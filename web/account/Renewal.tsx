import type { MasterKey } from '@countersign/keys/master-key'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call, Refused } from '../call.ts'
import { reauthenticate } from '../passkey.ts'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { RecoveryCode } from '../ui/RecoveryCode.tsx'
import { useWords } from '../ui/Root.tsx'
import type { Holdings } from './Account.tsx'
import { EnterCode } from './EnterCode.tsx'
import { nextStep, type Event, type Replacement, type Step } from './renewal-steps.ts'

type Props = { holdings: Holdings; children: ComponentChildren }

const loadVault = () => import('../vault.ts')

/** The recovery code, below what is passed in; while a new one is made, in its place. */
export function Renewal({ holdings, children }: Props) {
  const words = useWords().passkeys
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
    await call('PUT /api/account/recovery', { body: replacement }).catch(async (error: unknown) => {
      if (!(error instanceof Refused && error.code === 'reauthentication_required')) throw error
      // Writing a code down may take longer than a proof of presence lasts.
      const { prfSalt } = await loadVault()
      await reauthenticate(await prfSalt())
      await call('PUT /api/account/recovery', { body: replacement })
    })
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
        <p role="status">{step.renewed ? words.renewed : words.recoveryWhy}</p>
        <Actions of={[unlock]} doing={doing} />
      </section>
    </section>
  )
}
