import type { Answer } from '@countersign/protocol/api'
import { useRef, useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import {
  createPasskey,
  evaluatePrf,
  needsSecondTouch,
  signInWithPasskey,
  withFreshProof,
  type PrfOutput,
} from '../../lib/passkey.ts'
import { forgetPasskey } from '../../lib/passkey-signals.ts'
import { nextStep, type Event, type Made, type Replacement, type Step } from './steps.ts'

type Recovered = Answer<'POST /api/auth/recover/finish'>

const loadVault = () => import('../../lib/vault.ts')

/** The code comes with what reads it; where this fails, the step that needs it tries again and shows why. */
export function preloadVault(): void {
  loadVault().catch(() => undefined)
}

/** The step where the person is, and all that can be done about it. */
export function useFlow() {
  const [step, setStep] = useState<Step>({ at: 'identify' })
  /** Who is recovered, and with which code; kept for another try. */
  const given = useRef({ handle: '', code: '' })
  const signedIn = useRef<Recovered | undefined>(undefined)
  const go = (event: Event) => setStep((current) => nextStep(current, event))

  async function begin(handle: string, code: string) {
    given.current = { handle, code }
    const vault = await loadVault()
    const body = { handle, recoveryAuth: await vault.recoveryAuthOf(code) }
    const started = await call('POST /api/auth/recover/start', { body })
    const passkey = await createPasskey(started.options, await vault.prfSalt())
    const made = { started, passkey }
    if (needsSecondTouch(passkey)) return go({ type: 'second touch due', made })
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
      await openKeys(signedIn.current, made, prfOutput)
    } catch (error) {
      if (!signedIn.current && isFinal(error)) {
        await forgetPasskey(made.passkey.credential.id)
        go({ type: 'refused' })
      } else go({ type: 'finish failed', made, prfOutput })
      throw error
    }
  }

  /** The answer to an earlier try may have been lost: then the passkey is enrolled, and signs in. */
  async function signInIfRecovered(error: unknown): Promise<Recovered> {
    const mayBeDone = step.at === 'finish' && error instanceof Refused && error.code === 'invalid_flow'
    if (!mayBeDone) throw error
    return signInWithPasskey(given.current.handle)
  }

  /** Opens the keys with the code that was used, lets the new passkey open them, and makes the next code. */
  async function openKeys({ user, keyWraps }: Recovered, { passkey }: Made, prfOutput: PrfOutput | undefined) {
    if (keyWraps.length === 0) return go({ type: 'no keys' })
    const vault = await loadVault()
    const masterKey = await vault.openWithCode(keyWraps, given.current.code, user.userId)
    if (!masterKey) return go({ type: 'keys did not open' })
    if (prfOutput) {
      const opener = { credentialId: passkey.credential.id, prfOutput }
      const body = await vault.wrapForPasskey(masterKey, opener, user.userId)
      await withFreshProof(() => call('POST /api/account/key-wraps', { body }))
    }
    const renewed = await vault.renewRecoveryCode(masterKey, user.userId)
    masterKey.forget()
    go({ type: 'keys opened', ...renewed, opensKeys: prfOutput !== undefined })
  }

  async function putInForce(replacement: Replacement) {
    await withFreshProof(() => call('PUT /api/account/recovery', { body: replacement }))
    go({ type: 'code in force' })
  }

  return { step, handle: () => given.current.handle, begin, touchAgain, finish, putInForce }
}

/** A refusal settles that nothing happened. Silence, or a fault of the server, may have come after it did. */
function isFinal(error: unknown): boolean {
  return error instanceof Refused && error.status < 500 && error.status !== 429
}
