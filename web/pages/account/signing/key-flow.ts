import type { MasterKey } from '@countersign/keys/master-key'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { reauthenticate } from '../../../lib/keys/passkey.ts'
import { nextStep, type Event, type Step, type SigningKeyOwner } from './key-steps.ts'

const loadVault = () => import('../../../lib/keys/key-vault.ts')

/** The current step of replacing a signing key, and its actions. */
export function useReplaceSigningKey(userId: string, onChanged: () => Promise<void>) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const go = (event: Event) => setStep((current) => nextStep(current, event))

  /** One assertion both re-authenticates the user and unlocks the keys. */
  async function openWithPasskey(subject: SigningKeyOwner) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
    if (!masterKey) return go({ type: 'passkey opens nothing', subject, keyWraps })
    await change(subject, masterKey)
  }

  /** The keys are unlocked for this request only, and discarded even if it fails. */
  async function change(subject: SigningKeyOwner, masterKey: MasterKey) {
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
    confirm: (subject: SigningKeyOwner) => go({ type: 'asked', subject }),
    openWithPasskey,
    change,
    cancel: () => go({ type: 'cancelled' }),
  }
}

async function putInForce({ identityId, key }: SigningKeyOwner, masterKey: MasterKey): Promise<void> {
  const params = { identityId }
  const { replaceSigningKey } = await loadVault()
  if (key) await call('PUT /api/signing/keys/:identityId', { params, body: await replaceSigningKey(masterKey, key) })
  else await call('POST /api/signing/keys/:identityId', { params, body: await masterKey.newSigningKey(identityId) })
}
