import type { MasterKey } from '@countersign/keys/master-key'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { reauthenticate, withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import type { AccountData } from '../Account.tsx'
import { nextStep, type Event, type NewRecoveryCode, type Step, type UsedPasskey } from './renewal-steps.ts'

const loadVault = () => import('../../../lib/keys/key-vault.ts')

/** The current step of replacing the recovery code, and its actions. */
export function useReplaceRecoveryCode(data: AccountData, onChange: (data: AccountData) => void) {
  const [step, setStep] = useState<Step>({ at: 'rest', renewed: false })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const { userId } = data.session.user

  async function openWithPasskey() {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
    if (!masterKey) return go({ type: 'passkey opens nothing', keyWraps, used })
    await renew(masterKey)
  }

  async function openedByCode(used: UsedPasskey, masterKey: MasterKey) {
    await letOpen(used, masterKey)
    await renew(masterKey)
  }

  /** Wraps the master key for the passkey that had no key wrap, if it supports the PRF. */
  async function letOpen({ credentialId, prfOutput }: UsedPasskey, masterKey: MasterKey) {
    if (!prfOutput) return
    const { wrapMasterKeyForPasskey } = await loadVault()
    const body = await wrapMasterKeyForPasskey(masterKey, { credentialId, prfOutput }, userId)
    await withRecentAuthentication(() => call('POST /api/account/key-wraps', { body }))
    const passkeys = data.passkeys.map((each) =>
      each.credentialId === credentialId ? { ...each, opensKeys: true } : each,
    )
    onChange({ ...data, passkeys })
  }

  async function renew(masterKey: MasterKey) {
    const vault = await loadVault()
    const { recoveryCode, replacement } = await vault.renewRecoveryCode(masterKey, userId)
    masterKey.forget()
    go({ type: 'opened', recoveryCode, replacement })
  }

  async function putInForce(replacement: NewRecoveryCode) {
    // Saving a code may take the user longer than their authentication counts as recent.
    await withRecentAuthentication(() => call('PUT /api/account/recovery', { body: replacement }))
    onChange({ ...data, recoverySince: new Date().toISOString(), codeOpensKeys: true })
    go({ type: 'in force' })
  }

  return { step, openWithPasskey, openedByCode, putInForce, cancel: () => go({ type: 'cancelled' }) }
}
