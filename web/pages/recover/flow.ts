import type { ResponseOf } from '@countersign/protocol/api'
import { useRef, useState } from 'preact/hooks'
import { showUser } from '../../components/frame/shown-user.ts'
import { call, ApiError } from '../../lib/api/call.ts'
import {
  createPasskey,
  evaluatePrf,
  needsPrfAssertion,
  signInWithPasskey,
  withRecentAuthentication,
  type PrfOutput,
} from '../../lib/keys/passkey.ts'
import { signalUnknownCredential } from '../../lib/keys/passkey-signals.ts'
import { newRecoveryCode } from '../../lib/keys/new-recovery-code.ts'
import { rememberUser } from '../../lib/session/known-users.ts'
import { nextStep, type Event, type Made, type Step } from './steps.ts'

type Recovered = ResponseOf<'POST /api/auth/recover/finish'>

const loadVault = () => import('../../lib/keys/key-vault.ts')

/** Loads the cryptography early. If that fails, the step that needs it tries again and reports the error. */
export function preloadVault(): void {
  loadVault().catch(() => undefined)
}

/** The current step, and its actions. */
export function useFlow() {
  const [step, setStep] = useState<Step>({ at: 'identify' })
  /** The username and recovery code, stored for another try. */
  const given = useRef({ handle: '', code: '' })
  const signedIn = useRef<Recovered | undefined>(undefined)
  const go = (event: Event) => setStep((current) => nextStep(current, event))

  async function begin(handle: string, code: string) {
    given.current = { handle, code }
    const vault = await loadVault()
    const body = { handle, recoveryAuth: await vault.deriveRecoveryAuth(code) }
    const started = await call('POST /api/auth/recover/start', { body })
    const passkey = await createPasskey(started.options, await vault.prfSalt())
    const made = { started, passkey }
    if (needsPrfAssertion(passkey)) return go({ type: 'second touch due', made })
    await finish(made, passkey.prfOutput)
  }

  async function touchAgain(made: Made) {
    const { prfSalt } = await loadVault()
    await finish(made, await evaluatePrf(made.started.options.rp.id, made.passkey.credential.id, await prfSalt()))
  }

  async function finish(made: Made, prfOutput: PrfOutput | undefined) {
    try {
      const body = { flowId: made.started.flowId, credential: made.passkey.credential }
      signedIn.current ??= await call('POST /api/auth/recover/finish', { body }).catch(signInIfRecovered)
      const { user, identities } = signedIn.current
      showUser(user)
      rememberUser({ ...user, credentialId: made.passkey.credential.id }, identities)
      await openKeys(signedIn.current, made, prfOutput)
    } catch (error) {
      if (!signedIn.current && isFinal(error)) {
        await signalUnknownCredential(made.passkey.credential.id)
        go({ type: 'refused' })
      } else go({ type: 'finish failed', made, prfOutput })
      throw error
    }
  }

  /** Signs the user in if the passkey is enrolled. The response to an earlier try may have been lost. */
  async function signInIfRecovered(error: unknown): Promise<Recovered> {
    const mayBeDone = step.at === 'finish' && error instanceof ApiError && error.code === 'invalid_flow'
    if (!mayBeDone) throw error
    return signInWithPasskey(given.current.handle)
  }

  /** Unlocks the keys with the used code, wraps them for the new passkey, and creates the next recovery code. */
  async function openKeys(
    { user, identities, keyWraps }: Recovered,
    { passkey }: Made,
    prfOutput: PrfOutput | undefined,
  ) {
    if (keyWraps.length === 0) return go({ type: 'no keys' })
    const vault = await loadVault()
    const masterKey = await vault.unlockWithRecoveryCode(keyWraps, given.current.code, user.userId)
    if (!masterKey) return go({ type: 'keys did not open' })
    if (prfOutput) {
      const opener = { credentialId: passkey.credential.id, prfOutput }
      const body = await vault.wrapMasterKeyForPasskey(masterKey, opener, user.userId)
      await withRecentAuthentication(() => call('POST /api/account/key-wraps', { body }))
    }
    const code = await newRecoveryCode(masterKey, user.userId)
    masterKey.forget()
    go({ type: 'keys opened', owner: { user, identities }, code, opensKeys: prfOutput !== undefined })
  }

  return { step, begin, touchAgain, finish, saved: () => go({ type: 'code in force' }) }
}

/** Returns whether nothing happened. After no response, or a server error, the recovery may have happened. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429
}
