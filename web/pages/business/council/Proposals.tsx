import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { Changes } from '../../../components/display/Changes.tsx'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { keepFocus } from '../../../lib/focus.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import {
  approveProposal,
  completeProposal,
  type DescribedProposal,
  isProposalGone,
  withdrawProposal,
} from './proposal.ts'
import { useActMessages, useCouncilMessages } from './words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { atHandle } from '../../../lib/text/handle.ts'
import { joinNames } from '../../../lib/text/lists.ts'

type Props = { organization: OwnOrganization; proposals: DescribedProposal[]; onChanged: () => unknown }

/** Lists the open proposals, each with its approvals. */
export function Proposals({ organization, proposals, onChanged }: Props) {
  const words = useCouncilMessages()
  // The entry of a proposal that is gone cannot show why.
  const [problem, setProblem] = useState<unknown>()
  const answer = (work: () => Promise<unknown>) => async () => {
    setProblem(undefined)
    await keepFocus(async () => {
      try {
        await work()
      } catch (error) {
        if (!isProposalGone(error)) throw error
        setProblem(error)
        await onChanged()
      }
    })
  }
  return (
    <Card title={words.proposals}>
      <ErrorMessage of={problem} />
      {proposals.length === 0 && <p>{words.noProposals}</p>}
      <ul class="entries">
        {proposals.map((each) => (
          <Entry key={each.proposal.proposalId} of={each} {...{ organization, answer, onChanged }} />
        ))}
      </ul>
    </Card>
  )
}

type EntryProps = Omit<Props, 'proposals'> & {
  of: DescribedProposal
  /** Returns what does something with a proposal, unless that is gone. */
  answer: (work: () => Promise<unknown>) => () => Promise<void>
}

function Entry({ of: { proposal, description }, organization, answer, onChanged }: EntryProps) {
  const words = useCouncilMessages()
  const { becomes } = useActMessages()
  const { language } = useLocale()
  const doing = useActions()
  const { proposedBy, approvals, approvalsNeeded, mayApprove, mayComplete, expiresAt } = proposal
  const isOwn = proposedBy.identityId === organization.identityId
  const approve: Action = {
    name: 'approve-proposal',
    label: <NamedLabel label={words.approve} of={description.summary} />,
    do: answer(() => approveProposal(organization, proposal)),
  }
  const complete: Action = {
    name: 'complete-proposal',
    label: <NamedLabel label={words.complete} of={description.summary} />,
    do: answer(() => completeProposal(organization, proposal)),
  }
  const withdraw: Action = {
    name: 'withdraw-proposal',
    label: <NamedLabel label={words.withdraw} of={description.summary} />,
    look: 'quiet',
    do: answer(async () => {
      await withdrawProposal(organization, proposal)
      await onChanged()
    }),
  }
  const actions = [
    ...(mayApprove ? [approve] : []),
    ...(mayComplete ? [complete] : []),
    ...(isOwn || organization.role === 'owner' ? [withdraw] : []),
  ]
  const who = joinNames(approvals.map(({ handle }) => atHandle(handle)))
  return (
    <li class="entry domain proposal">
      <div>
        <h3>{description.summary}</h3>
        <p>
          {words.proposedBy(
            `${proposedBy.displayName} (${atHandle(proposedBy.handle)})`,
            dayOf(expiresAt, language, new Date()),
          )}
        </p>
        <p>{words.approvals(approvals.length, approvalsNeeded, who)}</p>
      </div>
      {description.changes.length > 0 && <Changes of={description.changes} becomes={becomes} />}
      {!description.isComplete && <p>{words.unnamed}</p>}
      <Actions of={actions} doing={doing} />
    </li>
  )
}
