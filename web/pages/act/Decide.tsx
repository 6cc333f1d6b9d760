import type { ComponentChildren } from 'preact'
import { type OrganizationRole, organizationScopes, scopesOfRole } from '@countersign/protocol/formats/role'
import { useState } from 'preact/hooks'
import { Changes } from '../../components/display/Changes.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { LocaleProvider, usePageMessages } from '../../components/frame/Root.tsx'
import { useMessages } from '../../components/signature/sign-words.ts'
import { Signature } from '../../components/signature/Signature.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { Disclosure } from '../../components/ui/Disclosure.tsx'
import { type Permit, Permits } from '../../components/ui/Facts.tsx'
import type { ShownAct } from '../../lib/acts/statement.ts'
import type { ActionSubject } from '../../lib/acts/subject.ts'
import type { ActWords, BusinessWords } from '../../lib/acts/words.ts'
import { CeremonyError } from '../../lib/keys/passkey.ts'
import { businessMessages as en } from '../../locales/en/pages/business.ts'
import { describeAction } from '../../lib/acts/describe-action.ts'
import type { ActFlow } from './flow.ts'
import type { Question } from './steps.ts'
import { useActMessages } from './words.ts'
import { atHandle } from '../../lib/text/handle.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/business.ts')).businessMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/business.ts')).businessMessages)

/** The messages about organizations, which describe the fields of signed actions. */
function useBusinessMessages() {
  return usePageMessages({ en, de, ar })
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
  const { devices, sign: of } = useMessages()
  const { shown } = question.started
  const { summary, ends, isComplete, ...described } = describeAction(shown, question.subject, { acts: words, business })
  const [readToEnd, setReadToEnd] = useState(false)
  const own = flow.owner?.identities.find(({ identityId }) => identityId === shown.identityId)
  const isAwake = isComplete || readToEnd
  const isApproval = shown.role === 'approve'
  // The trail is deleted with the organization.
  const deletes = shown.action === 'organization.deleted'
  const { proposedBy } = question.started
  const { organization, isSignatory = false } = question.subject
  const permits = permitsOf(shown, business)
  // The permits are the permissions, one on each line.
  const changes = described.changes.filter(({ name }) => name !== 'scopes' || permits.length === 0)
  const losesVoice = shown.action === 'organization.member.removed' || shown.action === 'organization.member.updated'
  const sign: Action = {
    name: 'sign',
    label: isApproval ? words.approve : labelOf(shown.action, question.subject, words),
    icon: 'signature',
    ...(deletes && { look: 'danger' as const }),
    asleep: !isAwake,
    do: () => flow.confirm(question, 'those that unlock keys'),
  }
  const decline: Action = { name: 'decline', label: words.decline, look: 'secondary', do: flow.decline }
  const useCode: Action = {
    name: 'use-code',
    label: devices.otherWay,
    look: 'quiet',
    do: () => flow.confirm(question, 'all'),
  }
  return (
    <>
      <div class="context-line">
        <Avatar kind="organization" name={organization} toneOf={shown.organizationId} size="xs" />
        <span>{organization}</span>
      </div>
      <div class="stack tight">
        <p class="soft small">{isApproval ? words.youApprove : words.youSign}</p>
        <StepHeading>{summary}</StepHeading>
        {ends !== undefined && <p class="lead">{ends}</p>}
      </div>
      {changes.length > 0 && <Changes of={changes} becomes={words.becomes} />}
      {permits.length > 0 && <Permits of={permits} />}
      {isSignatory && losesVoice && <Note tone="wait">{words.signatory}</Note>}
      {isApproval && proposedBy && (
        <p>{words.proposedBy(`${proposedBy.displayName} (${atHandle(proposedBy.handle)})`)}</p>
      )}
      {!isComplete && <Note tone="wait">{words.incomplete}</Note>}
      <ExactData question={question} isOpen={!isComplete} onEnd={() => setReadToEnd(true)} />
      <p class="small soft">{isApproval ? words.approving : deletes ? words.whatDeletes : words.what}</p>
      <div class="sticky-sign">
        <Signature
          name={own?.displayName ?? ''}
          below={
            <>
              <span>{atHandle(own?.handle ?? '')}</span>
              <span role="status">{isAwake ? of.byPasskey : of.readOn}</span>
            </>
          }
          isSigned={['sign', 'use-code'].includes(doing.current ?? '')}
        />
        <Actions of={[sign, decline]} doing={doing} areAnswers />
        {doing.problem instanceof CeremonyError && <Actions of={[useCode]} doing={{ ...doing, problem: undefined }} />}
      </div>
    </>
  )
}

/** Says on the button what the signature does. */
function labelOf(action: string, { isOwn }: ActionSubject, words: ActWords): string {
  if (isOwn && action === 'organization.member.removed') return words.signAndLeave
  const labels: Partial<Record<string, string>> = words.signAnd
  return (Object.hasOwn(labels, action) ? labels[action] : undefined) ?? words.sign
}

/** What the role that an act gives may do, and what it may not. */
function permitsOf({ action, details }: Pick<ShownAct, 'action' | 'details'>, words: BusinessWords): Permit[] {
  const { role } = details
  const isGiven = ['organization.invitation.created', 'organization.member.updated'].includes(action)
  if (!isGiven || typeof role !== 'string' || !isRole(role)) return []
  const scopes = givenScopes(details) ?? scopesOfRole[role]
  return organizationScopes.map((scope) => ({
    key: scope,
    text: words.scopes[scope],
    isAllowed: scopes.includes(scope),
  }))
}

function givenScopes({ scopes }: ShownAct['details']): readonly string[] | undefined {
  return Array.isArray(scopes) ? scopes.map(String) : undefined
}

function isRole(text: string): text is OrganizationRole {
  return Object.hasOwn(scopesOfRole, text)
}

type ExactDataProps = { question: Question; isOpen: boolean; onEnd: () => void }

function ExactData({ question: { started }, isOpen, onEnd }: ExactDataProps) {
  const words = useActMessages()
  const { action, details } = started.shown
  const [open, setOpen] = useState(isOpen)
  return (
    <div class="exact-data">
      <Disclosure summary={words.exact} icon="scan-line" open={open} onToggle={setOpen}>
        <h2>{words.exactChange}</h2>
        <ExactText text={JSON.stringify({ action, details }, null, 2)} label={words.exactChange} onEnd={onEnd} />
        <h2>{words.exactStatement}</h2>
        <ExactText text={started.text} label={words.exactStatement} />
      </Disclosure>
    </div>
  )
}
