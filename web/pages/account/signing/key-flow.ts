import type { MasterKey } from '@countersign/keys/master-key'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { reauthenticate } from '../../../lib/passkey.ts'
import { nextStep, type Event, type Step, type Subject } from './key-steps.ts'

const loadVault = () => import('../../../lib/vault.ts')

/** The step on the way to a new signing key, and all that can be done about it. */
export function useKeyChange(userId: string, onChanged: () => Promise<void>) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const go = (event: Event) => setStep((current) => nextStep(current, event))

  /** One touch both proves who asks, and opens the keys. */
  async function openWithPasskey(subject: Subject) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, userId)
    if (!masterKey) return go({ type: 'passkey opens nothing', subject, keyWraps })
    await change(subject, masterKey)
  }

  /** The key is open for this alone, and forgotten also where the server says no. */
  async function change(subject: Subject, masterKey: MasterKey) {
    try {
      await putInForce(subject, masterKey)
    } finally {
      masterKey.forget()
    }
    await onChanged()
    go({ type: 'in force', subject })
  }

  return {
    step,
    ask: (subject: Subject) => go({ type: 'asked', subject }),
    openWithPasskey,
    change,
    cancel: () => go({ type: 'cancelled' }),
  }
}

async function putInForce({ identityId, key }: Subject, masterKey: MasterKey): Promise<void> {
  const params = { identityId }
  const { replaceSigningKey } = await loadVault()
  if (key) await call('PUT /api/signing/keys/:identityId', { params, body: await replaceSigningKey(masterKey, key) })
  else await call('POST /api/signing/keys/:identityId', { params, body: await masterKey.newSigningKey(identityId) })
}
