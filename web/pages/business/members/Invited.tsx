import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { errorMessage } from '../../../lib/api/error-message.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { joinNames } from '../../../lib/text/lists.ts'

type Created = { invitation: Invitation; url: string; mailed: boolean }

/** An invitation that was not created, by the name of the invitee. */
export type Failure = { name: string; error: unknown }

/** What became of a form of invitations: those that were created, and the others. */
export type Result = { created: Created[]; failed: Failure[] }

type Props = { of: Result; onClose: () => void; onAgain: () => void }

/** Says what was mailed. Links are shown only here; the inviting member needs none that was mailed. */
export function Invited({ of: { created, failed }, onClose, onAgain }: Props) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const doing = useActions()
  const close: Action = { name: 'invitation-sent', label: words.done, do: onClose }
  const again: Action = { name: 'invite-more', label: people.inviteMore, look: 'secondary', do: onAgain }
  const describe = useDescribedFailures()
  const [only] = created
  const title = only && created.length === 1 ? people.sent(inviteeOf(only)) : people.sentSeveral(created.length)
  return (
    <div class="stack">
      <StepHeading level={3}>{title}</StepHeading>
      {failed.length > 0 && <Note tone="wait">{describe(failed)}</Note>}
      {created.map((each) => (
        <Entry key={each.invitation.invitationId} of={each} isOnly={created.length === 1} />
      ))}
      <Actions of={[close, again]} doing={doing} />
    </div>
  )
}

/**
 * Returns what says why invitations failed: the names with each reason, and the reason alone if the form had one name.
 */
export function useDescribedFailures(): (failed: Failure[], requested?: number) => string {
  const people = usePeopleMessages()
  const messages = useMessages()
  return (failed, requested) => {
    const reasons = Map.groupBy(failed, ({ error }) => errorMessage(error, messages))
    if (requested === 1) return [...reasons.keys()].join(' ')
    return [...reasons]
      .map(([reason, those]) => people.failed(joinNames(those.map(({ name }) => name)), reason))
      .join(' ')
  }
}

function Entry({ of: each, isOnly }: { of: Created; isOnly: boolean }) {
  const people = usePeopleMessages()
  const { invitation, url, mailed } = each
  const link = (
    <div class="copyable">
      <output name="invitationUrl">{url}</output>
      <CopyButton text={url} action="copy-invitation" what={people.invitationLink} />
    </div>
  )
  if (mailed)
    return (
      <>
        <Note tone="ok" icon="mail">
          {people.mailedTo(invitation.email ?? '')}
        </Note>
        <Disclosure summary={isOnly ? people.ownLink : `${inviteeOf(each)}: ${people.ownLink}`}>
          <p class="small soft">{people.ownLinkWhat}</p>
          {link}
        </Disclosure>
      </>
    )
  return (
    <>
      <Note tone={invitation.handle === null ? 'wait' : 'pen'}>
        {invitation.handle === null ? people.mailedNone : people.linkForNamed(invitation.handle)}
      </Note>
      {!isOnly && <strong>{inviteeOf(each)}</strong>}
      {link}
    </>
  )
}

function inviteeOf({ invitation: { handle, email } }: Created): string {
  return handle === null ? (email ?? '') : atHandle(handle)
}
