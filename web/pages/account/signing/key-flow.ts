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
      await putInForce(subject, { masterKey, userId })
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

async function putInForce(
  { identityId, key }: SigningKeyOwner,
  owner: { masterKey: MasterKey; userId: string },
): Promise<void> {
  const { recordNewKey } = await loadVault()
  const publicKey = key ? await rotate(owner.masterKey, key) : await createFirst(owner.masterKey, identityId)
  await recordNewKey(owner, identityId, { publicKey, promised: null })
}

async function rotate(masterKey: MasterKey, key: NonNullable<SigningKeyOwner['key']>): Promise<string> {
  const { replaceSigningKey } = await loadVault()
  const params = { identityId: key.identityId }
  const body = await replaceSigningKey(masterKey, key)
  await call('PUT /api/signing/keys/:identityId', { params, body })
  return body.publicKey
}

async function createFirst(masterKey: MasterKey, identityId: string): Promise<string> {
  const body = await masterKey.newSigningKey(identityId)
  await call('POST /api/signing/keys/:identityId', { params: { identityId }, body })
  return body.publicKey
}
