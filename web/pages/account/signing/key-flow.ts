import type { MasterKey } from '@countersign/keys/master-key'
import { useState } from 'preact/hooks'
import { ApiError, call } from '../../../lib/api/call.ts'
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

/** The place in the log is read now, because another device may have changed the key since the page was loaded. */
async function putInForce({ identityId, key }: SigningKeyOwner, owner: KeyOwner): Promise<void> {
  const { masterKey } = owner
  const params = { identityId }
  const { adoptIfUnproved, createSigningKey, recordNewKey, replaceSigningKey } = await loadVault()
  const current = await call('GET /api/signing/keys/:identityId', { params })
  // Another tab has created it, or the answer to an earlier attempt was lost.
  if (!key && current.hasKey && (await masterKey.ownsSigningKey(identityId, current))) return
  if (!current.hasKey) {
    const body = await createSigningKey(masterKey, identityId, current.chain.log)
    const created = call('POST /api/signing/keys/:identityId', { params, body })
    const { logEntry } = await created.catch(toKeyChanged)
    return recordNewKey(owner, identityId, { publicKey: body.publicKey, promised: logEntry })
  }
  if (current.publicKey !== key?.publicKey) throw new ApiError(409, 'key_changed', '')
  // A break before a key that was replaced can never be closed.
  const proved = await adoptIfUnproved(masterKey, current)
  // The self-record could not be stored. It is tried again at the next unlock.
  if (!proved) throw new ApiError(503, 'temporarily_unavailable', '')
  const body = await replaceSigningKey(masterKey, proved)
  const { logEntry } = await call('PUT /api/signing/keys/:identityId', { params, body })
  return recordNewKey(owner, identityId, { publicKey: body.publicKey, promised: logEntry })
}

function toKeyChanged(error: unknown): never {
  throw error instanceof ApiError && error.code === 'key_exists' ? new ApiError(409, 'key_changed', '') : error
}

type KeyOwner = { masterKey: MasterKey; userId: string }
