import { Avatar } from '../../components/ui/Avatar.tsx'
import { useEffect } from 'preact/hooks'
import type { StopReason } from '../../lib/acts/act.ts'
import { returnUrl } from '../../lib/navigation.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { CopyableFields } from '../../components/display/Copies.tsx'
import { type Action, type ActionState, useActions } from '../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../components/unlock/EnterCode.tsx'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Loading } from '../../components/signature/Loading.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { type Task, useFlow } from './flow.ts'
import type { MissingKeyWraps, Named } from './sharing.ts'
import { useActWords, useKeyWords } from './words.ts'
import { atHandle } from '../../lib/text/handle.ts'

/** Creates and shares organization keys. That needs passkeys, which can only be used on this host. */
export function OrganizationKeys() {
  const words = useKeyWords()
  const doing = useActions()
  const leave = () => location.replace(returnUrl(location.search, readSiteSettings()))
  const flow = useFlow(leave)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <PageLayout title={words.title} step={flow.step.at}>
      <section class="step">
        <CurrentStep flow={flow} doing={doing} leave={leave} />
      </section>
    </PageLayout>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: ActionState; leave: () => void }

function CurrentStep({ flow, doing, leave }: Props) {
  const words = useKeyWords()
  const { login, frame } = useMessages()
  const { step } = flow
  const back: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: leave }
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Loading />
      return <Actions of={[{ name: 'retry', label: frame.retry, do: flow.look }, back]} doing={doing} />
    case 'authenticate':
      return (
        <>
          <StepHeading>{login.title}</StepHeading>
          <Authenticate
            returnTo={`${location.pathname}${location.search}`}
            doing={doing}
            others={[back]}
            onSignedIn={flow.look}
          />
        </>
      )
    case 'nothing to do':
      return (
        <>
          <StepHeading>{words.nothing}</StepHeading>
          <Actions of={[{ name: 'return', label: words.back, do: leave }]} doing={doing} />
        </>
      )
    case 'confirm':
      return <Confirm task={step.task} flow={flow} doing={doing} back={back} />
    case 'stopped':
      return <Stopped why={step.why} flow={flow} doing={doing} back={back} />
    case 'enter code':
      return (
        <RecoveryCodeForm
          keyWraps={step.keyWraps}
          userId={step.task.userId}
          doing={doing}
          why={words.codeWhy}
          onOpened={(masterKey) => flow.finish(step.task, masterKey)}
          onCancel={leave}
        />
      )
  }
}

/** Says why the page has signed nothing. */
function Stopped({ why, flow, doing, back }: Omit<Props, 'leave'> & { why: StopReason; back: Action }) {
  const words = useActWords()
  const again: Action = { name: 'start-over', label: words.again, do: flow.look }
  return (
    <>
      <StepHeading>{words.stopped}</StepHeading>
      <p role="alert" data-stopped={why}>
        {words.stoppedWhy[why]}
      </p>
      <Actions of={[again, back]} doing={doing} />
    </>
  )
}

type ConfirmProps = Omit<Props, 'leave'> & { task: Task; back: Action }

function Confirm({ task, flow, doing, back }: ConfirmProps) {
  const { titles, what, now, alone } = useKeyWords()
  const { work, organization, query } = task
  const shares = work.what === 'share' ? work.shares : []
  const recipients = work.what === 'make' ? work.members : eachOnce(shares.flatMap((each) => each.recipients))
  const unprepared = eachOnce(shares.flatMap((each) => each.unprepared))
  const does = work.what !== 'share' || recipients.length > 0
  const unlock: Action = {
    name: 'unlock',
    label: now[work.what],
    icon: 'key-round',
    do: () => flow.openWithPasskey(task),
  }
  return (
    <>
      <div class="context-line">
        <Avatar kind="organization" name={organization} toneOf={query.organizationId} size="xs" />
        <span>{organization}</span>
      </div>
      <StepHeading>{titles[work.what](organization)}</StepHeading>
      {does && <p class="lead">{work.what === 'make' && recipients.length === 0 ? alone : what[work.what]}</p>}
      {recipients.length > 0 && <Recipients of={recipients} />}
      {unprepared.length > 0 && <Unprepared of={unprepared} organizationId={query.organizationId} />}
      <Actions of={does ? [unlock, back] : [back]} doing={doing} />
    </>
  )
}

/** Returns each member once, although they may lack several keys. */
function eachOnce<Member extends { memberId: string }>(members: Member[]): Member[] {
  return [...new Map(members.map((each) => [each.memberId, each])).values()]
}

/** Lists the members who cannot receive keys yet, with a link to where they create what they need. */
function Unprepared({ of, organizationId }: { of: MissingKeyWraps['unprepared']; organizationId: string }) {
  const words = useKeyWords()
  const addressFor = (identityId: string) => {
    const query = new URLSearchParams({ organization: organizationId, identity: identityId })
    return `${location.origin}${location.pathname}?${query}`
  }
  return (
    <>
      <p>{words.unprepared}</p>
      <CopyableFields
        of={of.map(({ displayName, handle, identityId }) => ({
          label: `${displayName} (${atHandle(handle)})`,
          value: addressFor(identityId),
          action: `copy-address-${handle}`,
        }))}
      />
    </>
  )
}

/** Lists the members who will receive keys. */
function Recipients({ of }: { of: Named[] }) {
  return (
    <ul class="list plain boxed recipients">
      {of.map(({ memberId, displayName, handle }) => (
        <li key={memberId}>
          <Avatar name={displayName} toneOf={handle} size="sm" />
          <div class="body">
            <h2>{displayName}</h2>
            <small>{atHandle(handle)}</small>
          </div>
        </li>
      ))}
    </ul>
  )
}
