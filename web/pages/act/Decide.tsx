import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ExactText } from '../../components/display/ExactText.tsx'
import { SignatureLine } from '../../components/display/Monogram.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { LocaleProvider, useMessages, usePageMessages } from '../../components/frame/Root.tsx'
import { CeremonyError } from '../../lib/keys/passkey.ts'
import { businessMessages as de } from '../../locales/de/pages/business.ts'
import { businessMessages as en } from '../../locales/en/pages/business.ts'
import { type DescribedChange, describeAction } from '../../lib/acts/describe-action.ts'
import type { ActFlow } from './flow.ts'
import type { Question } from './steps.ts'
import { useActMessages } from './words.ts'

/** The messages about organizations, which describe the fields of signed actions. */
function useBusinessMessages() {
  return usePageMessages({ en, de })
}

/** Adds the error messages about organizations. */
export function WithErrors({ children }: { children: ComponentChildren }) {
  return <LocaleProvider refused={useBusinessMessages().refused}>{children}</LocaleProvider>
}

type Props = { flow: ActFlow; question: Question; doing: ActionState }

/** Says what the act does, shows its exact data on demand, and asks for the decision. */
export function Decide({ flow, question, doing }: Props) {
  const words = useActMessages()
  const business = useBusinessMessages()
  const { sign: of } = useMessages()
  const { shown } = question.started
  const { summary, changes, ends, isComplete } = describeAction(shown, question.subject, { acts: words, business })
  const [readToEnd, setReadToEnd] = useState(false)
  const own = flow.owner?.identities.find(({ identityId }) => identityId === shown.identityId)
  const isAwake = isComplete || readToEnd
  const isApproval = shown.role === 'approve'
  // The trail is deleted with the organization.
  const deletes = shown.action === 'organization.deleted'
  const { proposedBy } = question.started
  const sign: Action = {
    name: 'sign',
    label: isApproval ? words.approve : words.sign,
    asleep: !isAwake,
    do: () => flow.confirm(question, 'those that unlock keys'),
  }
  const decline: Action = { name: 'decline', label: words.decline, look: 'secondary', do: flow.decline }
  const useCode: Action = {
    name: 'use-code',
    label: of.useCode,
    look: 'quiet',
    do: () => flow.confirm(question, 'all'),
  }
  return (
    <>
      <StepHeading>{summary}</StepHeading>
      {changes.length > 0 && <Changes of={changes} />}
      {ends !== undefined && <p>{ends}</p>}
      {isApproval && proposedBy && <p>{words.proposedBy(`${proposedBy.displayName} (@${proposedBy.handle})`)}</p>}
      <p>{isApproval ? words.approving : deletes ? words.whatDeletes : words.what}</p>
      {!isComplete && <p class="note warning">{words.incomplete}</p>}
      <ExactData question={question} isOpen={!isComplete} onEnd={() => setReadToEnd(true)} />
      <SignatureLine
        name={own?.displayName ?? ''}
        below={`@${own?.handle ?? ''}`}
        signed={['sign', 'use-code'].includes(doing.current ?? '')}
      />
      {!isAwake && <p role="status">{of.readOn}</p>}
      <Actions of={[sign, decline]} doing={doing} areAnswers />
      {doing.problem instanceof CeremonyError && <Actions of={[useCode]} doing={{ ...doing, problem: undefined }} />}
    </>
  )
}

/** Lists the values that the act sets, with those that it replaces. */
function Changes({ of }: { of: DescribedChange[] }) {
  const words = useActMessages()
  return (
    <dl class="facts">
      {of.map(({ name, label, value, before }) => (
        <div key={name} class="fact" data-field={name}>
          <dt>{label}</dt>
          <dd>
            {before !== undefined && (
              <>
                <del>{before}</del> <span class="becomes" role="img" aria-label={words.becomes} />{' '}
              </>
            )}
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}

type ExactDataProps = { question: Question; isOpen: boolean; onEnd: () => void }

function ExactData({ question: { started }, isOpen, onEnd }: ExactDataProps) {
  const words = useActMessages()
  const { action, details } = started.shown
  return (
    <details class="exact-data" open={isOpen}>
      <summary>{words.exact}</summary>
      <h3>{words.exactChange}</h3>
      <ExactText text={JSON.stringify({ action, details }, null, 2)} label={words.exactChange} onEnd={onEnd} />
      <h3>{words.exactStatement}</h3>
      <ExactText text={started.text} label={words.exactStatement} />
    </details>
  )
}
