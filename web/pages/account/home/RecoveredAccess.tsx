import { useState } from 'preact/hooks'
import { ApiError, call } from '../../../lib/api/call.ts'
import { formatMomentInSentence } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import type { Session } from '../../../lib/session/session.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { useAccountWords, useLocale } from '../words.ts'

/** The account in a session of a recovered passkey, which opens one identity until the user enters the code. */
export function RecoveredAccess({ session }: { session: Session }) {
  const words = useAccountWords().recovery
  const { words: shared, language } = useLocale()
  const doing = useActions()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const { identities, holdUntil } = session
  const [identity] = identities
  const isHeld = holdUntil !== undefined && new Date(holdUntil) > new Date()
  const lift: Action = {
    name: 'lift-limit',
    label: words.open,
    do: async () => {
      const { deriveRecoveryAuth, parseRecoveryCode } = await import('../../../lib/keys/key-vault.ts')
      const code = parseRecoveryCode(typed)
      if (code === undefined) return setProblem(shared.passkeys.codeMalformed)
      try {
        const body = { recoveryAuth: await deriveRecoveryAuth(code) }
        await call('POST /api/account/recovery-limit/lift', { body })
        location.reload()
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'invalid_credential')) throw error
        setProblem(words.wrongCode)
      }
    },
  }
  const about = isHeld ? words.held(formatMomentInSentence(holdUntil, language, new Date())) : words.limited
  return (
    <>
      <PageHead title={words.opensOnly(identity === undefined ? '' : atHandle(identity.handle))} lead={about} />
      <Card>
        <ActionForm submit={lift} doing={doing}>
          <Field
            name="recoveryCode"
            label={shared.recovery.label}
            value={typed}
            onInput={(text) => {
              setTyped(text)
              setProblem(undefined)
            }}
            problem={problem}
            isCode
            exact
          />
        </ActionForm>
      </Card>
    </>
  )
}
