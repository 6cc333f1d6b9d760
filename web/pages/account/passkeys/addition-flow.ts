import type { MasterKey } from '@countersign/keys/master-key'
import type { PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, ApiError } from '../../../lib/api/call.ts'
import {
  createPasskey,
  evaluatePrf,
  needsPrfAssertion,
  reauthenticate,
  type PrfOutput,
} from '../../../lib/keys/passkey.ts'
import { signalUnknownCredential } from '../../../lib/keys/passkey-signals.ts'
import { nextStep, type Event, type CreatedPasskey, type Step } from './addition-steps.ts'

const loadVault = () => import('../../../lib/keys/key-vault.ts')

/** The current step of adding a passkey, and its actions. */
export function useAddPasskey(userId: string, onAdded: (passkey: Passkey) => void) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const masterKey = useRef<MasterKey | undefined>(undefined)
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  useEffect(() => forgetKeys, [])

  function forgetKeys() {
    masterKey.current?.forget()
    masterKey.current = undefined
  }

  /** One assertion both re-authenticates the user and unlocks the keys for the new passkey. */
  async function begin() {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const opened = await vault.unlockWithPasskey(keyWraps, used, userId)
    if (!opened && keyWraps.length > 0) return go({ type: 'keys are shut', keyWraps })
    readyToMake(opened)
  }

  function readyToMake(opened: MasterKey | undefined) {
    masterKey.current = opened
    go({ type: 'ready to make' })
  }

  async function make() {
    const started = await call('POST /api/auth/passkeys/start', {})
    const { prfSalt } = await loadVault()
    const passkey = await createPasskey(started.options, await prfSalt())
    const made = { started, passkey }
    if (masterKey.current && needsPrfAssertion(passkey)) return go({ type: 'second touch due', made })
    await finishWith(made, passkey.prfOutput)
  }

  async function touchAgain(made: CreatedPasskey) {
    const { prfSalt } = await loadVault()
    await finishWith(made, await evaluatePrf(made.started.options.rp.id, made.passkey.credential.id, await prfSalt()))
  }

  async function finishWith(made: CreatedPasskey, prfOutput: PrfOutput | undefined) {
    if (!masterKey.current) return finish(made, undefined)
    if (!prfOutput) return go({ type: 'opens nothing', made })
    const { wrapMasterKeyForPasskey } = await loadVault()
    const opener = { credentialId: made.passkey.credential.id, prfOutput }
    await finish(made, await wrapMasterKeyForPasskey(masterKey.current, opener, userId))
  }

  async function finish(made: CreatedPasskey, keyWrap: PasskeyWrap | undefined) {
    const body = { flowId: made.started.flowId, credential: made.passkey.credential, ...(keyWrap && { keyWrap }) }
    try {
      const added = await call('POST /api/auth/passkeys/finish', { body }).catch((error) => findIfAdded(made, error))
      forgetKeys()
      onAdded(added)
      go({ type: 'added', name: added.name })
    } catch (error) {
      go({ type: 'finish failed', made, keyWrap })
      throw error
    }
  }

  /** The user cancels, or the new passkey cannot be used. */
  async function turnBack(made?: CreatedPasskey) {
    forgetKeys()
    if (made) await signalUnknownCredential(made.passkey.credential.id)
    go({ type: 'turned back' })
  }

  return { step, begin, readyToMake, make, touchAgain, finish, turnBack }
}

/** The response to an earlier try may have been lost. In that case the passkey exists. */
async function findIfAdded({ passkey }: CreatedPasskey, error: unknown): Promise<Passkey> {
  if (!(error instanceof ApiError && error.code === 'invalid_flow')) throw error
  const { passkeys } = await call('GET /api/auth/passkeys', {})
  const added = passkeys.find(({ credentialId }) => credentialId === passkey.credential.id)
  if (!added) throw error
  return added
}
