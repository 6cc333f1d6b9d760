import type { MasterKey } from '@countersign/keys/master-key'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { reauthenticate, withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import type { AccountData, SectionProps } from '../account-data.ts'
import { nextStep, type Event, type NewRecoveryCode, type Step, type UsedPasskey } from './renewal-steps.ts'

const loadVault = () => import('../../../lib/keys/key-vault.ts')

/** The current step of replacing the recovery code, and its actions. */
export function useReplaceRecoveryCode({ session }: AccountData, onChange: SectionProps['onChange']) {
  const [step, setStep] = useState<Step>({ at: 'rest', renewed: false })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const { userId } = session.user

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
    const withWrap = (each: Passkey) => (each.credentialId === credentialId ? { ...each, opensKeys: true } : each)
    onChange((current) => ({ ...current, passkeys: current.passkeys.map(withWrap) }))
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
    const confirmedAt = new Date().toISOString()
    onChange((current) => ({
      ...current,
      recoverySince: confirmedAt,
      codeOpensKeys: true,
      session: { ...current.session, recoveryCode: { confirmedAt } },
    }))
    go({ type: 'in force' })
  }

  return { step, openWithPasskey, openedByCode, putInForce, cancel: () => go({ type: 'cancelled' }) }
}
