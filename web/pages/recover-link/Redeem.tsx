import { useRef, useState } from 'preact/hooks'
import { ApiError, call } from '../../lib/api/call.ts'
import { createPasskey } from '../../lib/keys/passkey.ts'
import { signalIfUnknown } from '../../lib/keys/passkey-signals.ts'
import { formatMomentInSentence } from '../../lib/text/dates.ts'
import { atHandle } from '../../lib/text/handle.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { useLocale } from '../../components/frame/Root.tsx'
import { UnsupportedNote } from '../../components/unlock/Unsupported.tsx'
import type { Outcome } from './RecoverLink.tsx'
import { problemOf } from './problem.ts'
import { usePageWords } from './words.ts'

type Props = { secret: string; onDone: (outcome: Outcome) => void }
type Made = { flowId: string; handle: string; credential: Awaited<ReturnType<typeof createPasskey>>['credential'] }

/** Creates the passkey of a recovery. It becomes valid later. */
export function Redeem({ secret: token, onDone }: Props) {
  const { redeem: words, problems } = usePageWords()
  const { language } = useLocale()
  const doing = useActions()
  const made = useRef<Made | undefined>(undefined)
  const [problem, setProblem] = useState<string>()

  const outcomeOf = ({ handle, validFrom }: { handle: string; validFrom: string }): Outcome => {
    const now = new Date()
    const isValid = new Date(validFrom) <= now
    const when = isValid ? words.validNow : words.validFrom(formatMomentInSentence(validFrom, language, now))
    const link = { href: '/login', label: words.signIn }
    const texts = [when, words.keysStayClosed]
    return { icon: 'key-round', title: words.done(atHandle(handle)), texts, ...(isValid && { link }) }
  }
  const create = async (): Promise<Made> => {
    const { flowId, options, handle } = await call('POST /api/recovery-links/redemption/start', { body: { token } })
    const { prfSalt } = await import('../../lib/keys/key-vault.ts')
    const { credential } = await createPasskey(options, await prfSalt())
    return { flowId, handle, credential }
  }
  const redeem = async () => {
    try {
      // After an answer that was lost, the same passkey is sent again.
      made.current ??= await create()
      const { flowId, handle, credential } = made.current
      const body = { token, flowId, credential }
      const { validFrom } = await call('POST /api/recovery-links/redemption/finish', { body })
      onDone(outcomeOf({ handle, validFrom }))
    } catch (error) {
      if (made.current && isFinal(error)) {
        // An earlier request may have used the link, although its answer was lost.
        await signalIfUnknown(made.current.credential.id)
        made.current = undefined
      }
      const known = problemOf(error)
      if (known === undefined) throw error
      setProblem(problems[known])
    }
  }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading key={problem}>{problem ?? words.title}</StepHeading>
        {problem === undefined && <p class="lead">{words.lead}</p>}
      </div>
      {problem === undefined && (
        <>
          <UnsupportedNote />
          <Actions of={[{ name: 'create-passkey', label: words.create, do: redeem }]} doing={doing} />
        </>
      )}
    </section>
  )
}

/** Returns whether nothing happened. After no response, or a server error, the link may have been used. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429
}
