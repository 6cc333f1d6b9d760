import { useEffect, useState } from 'preact/hooks'
import { call, Refused } from '../call.ts'
import { emptyDraft, isComplete } from '../identity-draft.ts'
import { createPasskey, evaluatePrf, forgetPasskey, type PrfOutput } from '../passkey.ts'
import { returnAddress } from '../return-address.ts'
import { useDoing } from '../ui/doing.ts'
import { Frame } from '../ui/Frame.tsx'
import { RecoveryCode } from '../ui/RecoveryCode.tsx'
import { useWords } from '../ui/Root.tsx'
import { Describe } from './Describe.tsx'
import { Finish } from './Finish.tsx'
import { needsSecondTouch, nextStep, type Event, type Made, type Prepared, type Step } from './steps.ts'
import { TouchAgain } from './TouchAgain.tsx'

export function Register() {
  const words = useWords()
  const [step, setStep] = useState<Step>({ at: 'describe' })
  const [draft, setDraft] = useState(emptyDraft)
  const doing = useDoing()
  const returnTo = returnAddress(location.search, location.origin)
  const go = (event: Event) => setStep((current) => nextStep(current, event))

  useEffect(preload, [])
  useEffect(() => {
    if (step.at === 'leave') location.replace(returnTo)
  }, [step.at, returnTo])

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
    if (!(error instanceof Refused && error.code === 'handle_taken')) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  async function touchAgain(made: Made) {
    go({ type: 'second touch due', made })
    const output = await evaluatePrf(made.started.options.rp.id, made.passkey.credential.id, await salt())
    await finish(made, await prepare(made, output))
  }

  async function finish(made: Made, prepared: Prepared) {
    try {
      await call('POST /api/auth/register/finish', { body: prepared.finish })
      go({ type: 'account made', prepared })
    } catch (error) {
      go({ type: 'finish failed', made, prepared })
      throw error
    }
  }

  async function startOver({ started, passkey }: Made) {
    await forgetPasskey(started.options.rp.id, passkey.credential.id)
    go({ type: 'started over' })
  }

  return (
    <Frame title={words.register.title}>
      {step.at === 'describe' && (
        <Describe draft={draft} onChange={setDraft} returnTo={returnTo} doing={doing} onCreate={createAccount} />
      )}
      {step.at === 'touch again' && (
        <TouchAgain
          doing={doing}
          onTouch={() => touchAgain(step.made)}
          onGoWithout={async () => finish(step.made, await prepare(step.made, undefined))}
        />
      )}
      {step.at === 'finish' && (
        <Finish
          doing={doing}
          onFinish={() => finish(step.made, step.prepared)}
          onStartOver={() => startOver(step.made)}
        />
      )}
      {step.at === 'save code' && (
        <RecoveryCode
          code={step.recoveryCode}
          handle={draft.handle}
          opensKeys={step.opensKeys}
          doing={doing}
          onSaved={() => go({ type: 'code saved' })}
        />
      )}
    </Frame>
  )
}

/** The code that makes keys is not waited for when the page is drawn; it comes while the person types. */
const loadVault = () => import('../vault.ts')

function preload(): void {
  // Where this fails, the step that needs it tries again, and its failure is shown.
  loadVault().catch(() => undefined)
}

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
