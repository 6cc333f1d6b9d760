import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useRef, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import {
  activateRecoveryCode,
  createFirstKeys,
  firstRecoveryCode,
  hasNeverHadKeys,
  newRecoveryCode,
  type NewRecoveryCode,
} from '../../lib/keys/new-recovery-code.ts'
import { reauthenticate, withRecentAuthentication, type UsedPasskey } from '../../lib/keys/passkey.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

/**
 * The steps of saving a recovery code. Nothing is stored before the user confirms that they have saved it, so that they
 * can leave at any step.
 */
export type Step =
  | { at: 'rest' }
  | { at: 'enter code'; keyWraps: KeyWrap[]; used: UsedPasskey }
  | { at: 'save code'; code: NewRecoveryCode; opensKeys: boolean }
  /** Another page or device was first: the code that it stored counts. */
  | { at: 'exists' }
  /** The service says that there are no keys, but there were some. */
  | { at: 'keys gone' }

type Saving = {
  userId: string
  identityId: string
  /** Set if the user replaces a code that is in effect. Otherwise a code that takes effect meanwhile stays. */
  replaces: boolean
  onSaved: () => unknown
}

/** The current step, and its actions. `begin` is the step to begin with: a page with unlocked keys has a code too. */
export function useSaveRecoveryCode({ userId, identityId, replaces, onSaved }: Saving, begin: Step = { at: 'rest' }) {
  const [step, setStep] = useState<Step>(begin)
  /** The key wraps after the code took effect, for another try of what follows. */
  const stored = useRef<KeyWrap[] | undefined>(undefined)
  const unlockedBy = useRef<UsedPasskey | undefined>(undefined)

  /** One assertion both re-authenticates the user and unlocks the keys. */
  async function openWithPasskey() {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    if (keyWraps.length === 0) return beginKeys(used)
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
    if (!masterKey) return setStep({ at: 'enter code', keyWraps, used })
    await show(masterKey, true)
  }

  /** An account without keys gets its first ones with the code. */
  async function beginKeys(used: UsedPasskey) {
    if (!(await hasNeverHadKeys(userId))) return setStep({ at: 'keys gone' })
    unlockedBy.current = used
    setStep({ at: 'save code', code: await firstRecoveryCode(userId), opensKeys: used.prfOutput !== undefined })
  }

  /** The former code or another device has unlocked the keys. From now on the passkey does too, if it can. */
  async function opened(used: UsedPasskey, masterKey: MasterKey) {
    await wrapFor(used, masterKey)
    await show(masterKey, used.prfOutput !== undefined)
  }

  async function wrapFor({ credentialId, prfOutput }: UsedPasskey, masterKey: MasterKey) {
    if (!prfOutput) return
    const { wrapMasterKeyForPasskey } = await loadVault()
    const body = await wrapMasterKeyForPasskey(masterKey, { credentialId, prfOutput }, userId)
    await withRecentAuthentication(() => call('POST /api/account/key-wraps', { body }))
  }

  async function show(masterKey: MasterKey, opensKeys: boolean) {
    const code = await newRecoveryCode(masterKey, userId)
    masterKey.forget()
    setStep({ at: 'save code', code, opensKeys })
  }

  async function confirm() {
    if (step.at !== 'save code') return
    const { code } = step
    stored.current ??= await activateRecoveryCode(code, { ifNone: !replaces })
    if (!stored.current) return setStep({ at: 'exists' })
    if (code.isFirst) await createKeys(code, stored.current)
    await onSaved()
  }

  async function createKeys(code: NewRecoveryCode, keyWraps: KeyWrap[]) {
    await createFirstKeys({ userId, identityId }, code, keyWraps)
    if (!unlockedBy.current?.prfOutput) return
    const { unlockWithRecoveryCode } = await loadVault()
    const masterKey = await unlockWithRecoveryCode(keyWraps, code.recoveryCode, userId)
    if (!masterKey) return
    await wrapFor(unlockedBy.current, masterKey).finally(() => masterKey.forget())
  }

  return { step, openWithPasskey, opened, confirm, rest: () => setStep({ at: 'rest' }) }
}
