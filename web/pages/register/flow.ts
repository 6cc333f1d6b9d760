import { useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import { emptyDraft, isComplete, isHandleRefused } from '../../lib/text/identity-draft.ts'
import { createPasskey, evaluatePrf, needsSecondTouch, signInWithPasskey, type PrfOutput } from '../../lib/passkey.ts'
import { forgetPasskey } from '../../lib/passkey-signals.ts'
import type { Introduction } from './introduction.ts'
import { nextStep, outcomeOf, type Event, type Made, type Prepared, type Step } from './steps.ts'

/** The step where the person is, and all that can be done about it. */
export function useFlow() {
  const [step, setStep] = useState<Step>({ at: 'describe' })
  const [draft, setDraft] = useState(emptyDraft)
  const advance = (event: Event) => setStep((current) => nextStep(current, event))

  /** What the person has typed meanwhile stays. */
  function introduce({ handle, displayName }: Introduction) {
    setDraft((typed) => ({
      ...typed,
      handle: typed.handle === '' ? handle : typed.handle,
      displayName: typed.displayName === '' ? displayName : typed.displayName,
    }))
  }

  async function createAccount() {
    if (!isComplete(draft)) return
    const { handle, displayName } = draft
    const started = await call('POST /api/auth/register/start', { body: { handle, displayName } }).catch(noteTaken)
    if (!started) return
    const made = { started, passkey: await createPasskey(started.options, await salt()) }
    if (needsSecondTouch(made.passkey)) return touchAgain(made)
    await finish(made, await prepare(made, made.passkey.prfOutput))
  }

  /** A taken handle is a matter of its field. */
  function noteTaken(error: unknown) {
    if (!isHandleRefused(error)) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  async function touchAgain(made: Made) {
    advance({ type: 'second touch due', made })
    const output = await evaluatePrf(made.started.options.rp.id, made.passkey.credential.id, await salt())
    await finish(made, await prepare(made, output))
  }

  async function goWithout(made: Made) {
    await finish(made, await prepare(made, undefined))
  }

  async function finish(made: Made, prepared: Prepared) {
    try {
      await call('POST /api/auth/register/finish', { body: prepared.finish }).catch(signInIfMade)
      advance({ type: 'account made', prepared })
    } catch (error) {
      advance({ type: 'finish failed', made, prepared, outcome: outcomeOf(error) })
      throw error
    }
  }

  /** The answer to an earlier try may have been lost: then the account is there, and its passkey signs in. */
  async function signInIfMade(error: unknown) {
    const mayBeMade = step.at === 'finish' && step.outcome === 'unknown'
    if (!(mayBeMade && error instanceof Refused && error.code === 'invalid_flow')) throw error
    await signInWithPasskey(draft.handle)
  }

  async function startOver({ passkey }: Made) {
    const isOfNoUse = step.at === 'touch again' || (step.at === 'finish' && step.outcome === 'refused')
    if (isOfNoUse) await forgetPasskey(passkey.credential.id)
    advance({ type: 'started over' })
  }

  return { step, draft, setDraft, introduce, advance, createAccount, touchAgain, goWithout, finish, startOver }
}

/** The code that makes keys comes while the person types: the page is drawn without it. */
export function preloadVault(): void {
  // Where this fails, the step that needs it tries again, and its failure is shown.
  loadVault().catch(() => undefined)
}

const loadVault = () => import('../../lib/vault.ts')

async function salt(): Promise<BufferSource> {
  return (await loadVault()).prfSalt()
}

/** All keys of the new account. */
async function prepare({ started, passkey }: Made, prfOutput: PrfOutput | undefined): Promise<Prepared> {
  const { makeKeys } = await loadVault()
  const { flowId, userId, identityId } = started
  const { credential } = passkey
  const { keys, recoveryCode } = await makeKeys({ userId, identityId, credentialId: credential.id }, prfOutput)
  return { finish: { flowId, credential, ...keys }, recoveryCode, opensKeys: prfOutput !== undefined }
}
