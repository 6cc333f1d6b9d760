import { useState } from 'preact/hooks'
import { ApiError } from '../../lib/api/call.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { Field } from '../../components/form/Field.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { UnsupportedNote } from '../../components/unlock/Unsupported.tsx'
import { usePageWords } from './words.ts'

type Problems = { handle?: string; code?: string }
type Props = { returnTo: string; doing: ActionState; onBegin: (handle: string, code: string) => Promise<void> }

/** Asks for the username and the recovery code. */
export function RecoveryForm({ returnTo, doing, onBegin }: Props) {
  const words = useMessages()
  const page = usePageWords()
  const [handle, setHandle] = useState('')
  const [typed, setTyped] = useState('')
  const [problems, setProblems] = useState<Problems>({})

  const begin: Action = {
    name: 'recover',
    label: page.begin,
    do: async () => {
      const { parseRecoveryCode } = await import('../../lib/keys/key-vault.ts')
      const code = parseRecoveryCode(typed)
      const name = handle.trim().replace(/^@/, '')
      if (name === '' || code === undefined)
        return setProblems({
          ...(name === '' && { handle: page.handleMissing }),
          ...(code === undefined && { code: words.passkeys.codeMalformed }),
        })
      await onBegin(name, code).catch((error: unknown) => {
        const problem = problemOf(error)
        if (problem === undefined) throw error
        setProblems({ code: page[problem] })
      })
    },
  }
  const write = (set: (text: string) => void) => (text: string) => {
    set(text)
    setProblems({})
  }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{page.title}</StepHeading>
        <p class="lead">{page.lead}</p>
      </div>
      <UnsupportedNote />
      <ActionForm submit={begin} doing={doing}>
        <Field
          name="handle"
          label={words.register.handle}
          prefix="@"
          value={handle}
          onInput={write(setHandle)}
          problem={problems.handle}
          autocomplete="username"
          exact
        />
        <Field
          name="recoveryCode"
          label={words.recovery.label}
          value={typed}
          onInput={write(setTyped)}
          problem={problems.code}
          isCode
          exact
        />
      </ActionForm>
      <p class="otherwise">
        {page.foundPasskey} <a href={withReturnUrl('/login', returnTo)}>{words.register.login}</a>
      </p>
    </section>
  )
}

/** Returns the problem with the code. Returns undefined if the error is about the passkey or the connection. */
function problemOf(error: unknown): 'noMatch' | 'locked' | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'invalid_credential' && error.status === 401) return 'noMatch'
  return error.code === 'rate_limited' ? 'locked' : undefined
}
