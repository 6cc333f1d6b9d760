import { useEffect } from 'preact/hooks'
import { returnAddress } from '../return-address.ts'
import { Actions } from '../ui/Actions.tsx'
import { Authenticate } from '../ui/Authenticate.tsx'
import { useDoing, type Action, type Doing } from '../ui/doing.ts'
import { EnterCode } from '../ui/EnterCode.tsx'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { readSite } from '../view.ts'
import { useFlow, type Task } from './flow.ts'
import type { Lacking } from './sharing.ts'

/** Where the keys of an organization are made and shared: passkeys, which open what it takes, answer here alone. */
export function OrganizationKeys() {
  const words = useWords().organizationKeys
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
  const { organizationKeys: words, account, login, frame } = useWords()
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
  const { makeTitle, makeWhat, makeNow, shareTitle, shareWhat, shareNow } = useWords().organizationKeys
  const { work, organization } = task
  const makes = work.what === 'make'
  const unlock: Action = { name: 'unlock', label: makes ? makeNow : shareNow, do: () => flow.openWithPasskey(task) }
  return (
    <>
      <StepHeading>{makes ? makeTitle(organization) : shareTitle(organization)}</StepHeading>
      <p>{makes ? makeWhat : shareWhat}</p>
      {work.what === 'share' && <Recipients of={work.shares} />}
      <Actions of={[unlock, back]} doing={doing} />
    </>
  )
}

/** Who is about to be given keys, each once. */
function Recipients({ of }: { of: Lacking[] }) {
  const all = new Map(of.flatMap(({ recipients }) => recipients.map((each) => [each.memberId, each])))
  return (
    <ul class="entries">
      {[...all.values()].map(({ memberId, displayName, handle }) => (
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
