import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale, useMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'
import { RecoveryCode } from '../../../components/unlock/RecoveryCode.tsx'
import type { AccountData } from '../account-data.ts'
import { useAccountWords } from '../words.ts'
import type { useReplaceRecoveryCode } from './renewal-flow.ts'
import type { Step } from './renewal-steps.ts'

type Renewal = ReturnType<typeof useReplaceRecoveryCode>
type Props = { data: AccountData; renewal: Renewal; step: Exclude<Step, { at: 'rest' }> }

/** The steps that replace the recovery code. */
export function ReplaceRecoveryCode({ data, renewal, step }: Props) {
  const words = useMessages().passkeys
  const doing = useActions()
  const { user, identities } = data.session
  if (step.at === 'save code') {
    const { recoveryCode, replacement } = step
    return (
      <RecoveryCode
        code={recoveryCode}
        handle={identities[0]?.handle ?? ''}
        opensKeys={data.passkeys.some(({ opensKeys }) => opensKeys)}
        doing={doing}
        onSaved={() => renewal.putInForce(replacement)}
        onCancel={renewal.cancel}
      />
    )
  }
  const { keyWraps, used } = step
  return (
    <RecoveryCodeForm
      keyWraps={keyWraps}
      userId={user.userId}
      doing={doing}
      why={words.codeWhy}
      onOpened={(masterKey) => renewal.openedByCode(used, masterKey)}
      onCancel={renewal.cancel}
    />
  )
}

type CardProps = { data: AccountData; renewal: Renewal; /** Set after it was replaced. */ isRenewed: boolean }

/** Says whether there is a current recovery code, which a used one is not, and replaces it. */
export function RecoveryCodeCard({ data: { recoverySince: since }, renewal, isRenewed }: CardProps) {
  const words = useAccountWords().security
  const { words: shared, language } = useLocale()
  const doing = useActions()
  const { renew, renewed, recoveryNone } = shared.passkeys
  const unlock: Action = {
    name: 'unlock',
    label: renew,
    look: 'secondary',
    do: renewal.openWithPasskey,
  }
  return (
    <Card
      title={words.code}
      actions={
        since === null ? (
          <Chip tone="bad" icon="circle-alert">
            {words.codeMissing}
          </Chip>
        ) : (
          <Chip tone="ok" icon="check">
            {words.codeSaved}
          </Chip>
        )
      }
    >
      <div role="status" class="stack tight soft">
        {isRenewed && <p>{renewed}</p>}
        {since === null ? (
          <p>{recoveryNone}</p>
        ) : (
          <p>
            {words.codeSince(dayOf(since, language, new Date()))} {words.codeReplaces}
          </p>
        )}
      </div>
      <ErrorMessage of={doing.problem} />
      {/* Without a code, every page of the account offers one. */}
      {since !== null && (
        <div class="row">
          <ActionButton action={unlock} doing={doing} />
        </div>
      )}
    </Card>
  )
}
