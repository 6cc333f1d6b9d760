import { useEffect } from 'preact/hooks'
import { returnAddress } from '../../lib/return-address.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { Copies } from '../../components/display/Copies.tsx'
import { useDoing, type Action, type Doing } from '../../components/form/doing.ts'
import { EnterCode } from '../../components/unlock/EnterCode.tsx'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readSite } from '../../lib/view.ts'
import { useFlow, type Task } from './flow.ts'
import type { Lacking } from './sharing.ts'
import { useKeyWords } from './words.ts'

/** Where the keys of an organization are made and shared: passkeys, which open what it takes, answer here alone. */
export function OrganizationKeys() {
  const words = useKeyWords()
  const doing = useDoing()
  const leave = () => location.replace(returnAddress(location.search, readSite()))
  const flow = useFlow(leave)
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <Frame title={words.title} step={flow.step.at}>
      <section class="step">
        <CurrentStep flow={flow} doing={doing} leave={leave} />
      </section>
    </Frame>
  )
}

type Props = { flow: ReturnType<typeof useFlow>; doing: Doing; leave: () => void }

function CurrentStep({ flow, doing, leave }: Props) {
  const words = useKeyWords()
  const { account, login, frame } = useWords()
  const { step } = flow
  const back: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: leave }
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Waiting />
      return <Actions of={[{ name: 'retry', label: account.retry, do: flow.look }, back]} doing={doing} />
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
    case 'enter code':
      return (
        <EnterCode
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

type ConfirmProps = Omit<Props, 'leave'> & { task: Task; back: Action }

function Confirm({ task, flow, doing, back }: ConfirmProps) {
  const { titles, what, now } = useKeyWords()
  const { work, organization, asked } = task
  const shares = work.what === 'share' ? work.shares : []
  const recipients = eachOnce(shares.flatMap((each) => each.recipients))
  const unprepared = eachOnce(shares.flatMap((each) => each.unprepared))
  const does = work.what !== 'share' || recipients.length > 0
  const unlock: Action = { name: 'unlock', label: now[work.what], do: () => flow.openWithPasskey(task) }
  return (
    <>
      <StepHeading>{titles[work.what](organization)}</StepHeading>
      {does && <p>{what[work.what]}</p>}
      {recipients.length > 0 && <Recipients of={recipients} />}
      {unprepared.length > 0 && <Unprepared of={unprepared} organizationId={asked.organizationId} />}
      <Actions of={does ? [unlock, back] : [back]} doing={doing} />
    </>
  )
}

/** Members who lack several keys, once. */
function eachOnce<Member extends { memberId: string }>(members: Member[]): Member[] {
  return [...new Map(members.map((each) => [each.memberId, each])).values()]
}

/** Who can't be given keys yet, and where they do what it takes. */
function Unprepared({ of, organizationId }: { of: Lacking['unprepared']; organizationId: string }) {
  const words = useKeyWords()
  const addressFor = (identityId: string) => {
    const query = new URLSearchParams({ organization: organizationId, identity: identityId })
    return `${location.origin}${location.pathname}?${query}`
  }
  return (
    <>
      <p>{words.unprepared}</p>
      <Copies
        of={of.map(({ displayName, handle, identityId }) => ({
          label: `${displayName} (@${handle})`,
          value: addressFor(identityId),
          action: `copy-address-${handle}`,
        }))}
      />
    </>
  )
}

/** Who is about to be given keys. */
function Recipients({ of }: { of: Lacking['recipients'] }) {
  return (
    <ul class="entries">
      {of.map(({ memberId, displayName, handle }) => (
        <li key={memberId} class="entry">
          <div>
            <h2 class="written-name">{displayName}</h2>
            <p>@{handle}</p>
          </div>
        </li>
      ))}
    </ul>
  )
}
