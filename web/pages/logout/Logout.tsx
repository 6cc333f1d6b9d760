import type { AfterLogout } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { placeOf } from '../../lib/place.ts'
import type { Session } from '../../lib/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { useFlow } from './flow.ts'

/** Where an app sends people who want to sign out. */
export function Logout() {
  const words = useWords().logout
  const doing = useDoing()
  const view = readView('logout')
  const flow = useFlow(view)
  const look = { name: 'retry', label: useWords().account.retry, do: flow.look }
  useEffect(() => void doing.perform(look), [])

  const { step } = flow
  return (
    <Frame title={words.title}>
      <section class="step">
        {step.at === 'look' && (doing.problem === undefined ? <Waiting /> : <Actions of={[look]} doing={doing} />)}
        {step.at === 'ask' && <Ask session={step.session} doing={doing} onSignOut={flow.approve} />}
        {step.at === 'signed out' && <SignedOut after={view.after} />}
        {step.at === 'leave' && <p role="status">{words.leaving(placeOf(step.url))}</p>}
      </section>
    </Frame>
  )
}

type AskProps = { session: Session; doing: Doing; onSignOut: () => Promise<void> }

function Ask({ session, doing, onSignOut }: AskProps) {
  const words = useWords().logout
  const handles = session.identities.map(({ handle }) => `@${handle}`).join(', ')
  return (
    <>
      <StepHeading>{words.question}</StepHeading>
      <p class="lead">{words.who(handles)}</p>
      <Actions
        of={[
          { name: 'sign-out', label: words.signOut, do: onSignOut },
          { name: 'stay', label: words.stay, look: 'secondary', do: () => location.assign('/account') },
        ]}
        doing={doing}
      />
    </>
  )
}

function SignedOut({ after }: { after: AfterLogout }) {
  const { logout: words, error } = useWords()
  return (
    <>
      <StepHeading>{words.signedOut}</StepHeading>
      <p class="lead">{words.elsewhere}</p>
      {after.at === 'here' && after.refused && <p>{words.refused}</p>}
      <p>
        <a class="button secondary" href="/">
          {error.home}
        </a>
      </p>
    </>
  )
}
