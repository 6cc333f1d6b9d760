import type { MasterKey } from '@countersign/keys/master-key'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { reauthenticate, withFreshProof } from '../../../lib/passkey.ts'
import type { Holdings } from '../Account.tsx'
import { nextStep, type Event, type Replacement, type Step, type UsedPasskey } from './renewal-steps.ts'

const loadVault = () => import('../../../lib/vault.ts')

/** The step on the way to a new recovery code, and all that can be done about it. */
export function useRenewal(holdings: Holdings, onChange: (holdings: Holdings) => void) {
  const [step, setStep] = useState<Step>({ at: 'rest', renewed: false })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const { userId } = holdings.session.user

  async function openWithPasskey() {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, userId)
    if (!masterKey) return go({ type: 'passkey opens nothing', keyWraps, used })
    await renew(masterKey)
  }

  async function openedByCode(used: UsedPasskey, masterKey: MasterKey) {
    await letOpen(used, masterKey)
    await renew(masterKey)
  }

  /** The passkey that opened nothing will from now on, if it can open anything. */
  async function letOpen({ credentialId, prfOutput }: UsedPasskey, masterKey: MasterKey) {
    if (!prfOutput) return
    const { wrapForPasskey } = await loadVault()
    const body = await wrapForPasskey(masterKey, { credentialId, prfOutput }, userId)
    await withFreshProof(() => call('POST /api/account/key-wraps', { body }))
    const passkeys = holdings.passkeys.map((each) =>
      each.credentialId === credentialId ? { ...each, opensKeys: true } : each,
    )
    onChange({ ...holdings, passkeys })
  }

  async function renew(masterKey: MasterKey) {
    const vault = await loadVault()
    const { recoveryCode, replacement } = await vault.renewRecoveryCode(masterKey, userId)
    masterKey.forget()
    go({ type: 'opened', recoveryCode, replacement })
  }

  async function putInForce(replacement: Replacement) {
    // Writing a code down may take longer than a proof of presence lasts.
    await withFreshProof(() => call('PUT /api/account/recovery', { body: replacement }))
    onChange({ ...holdings, recoverySince: new Date().toISOString(), codeOpensKeys: true })
    go({ type: 'in force' })
  }

  return { step, openWithPasskey, openedByCode, putInForce, cancel: () => go({ type: 'cancelled' }) }
}
