import type { PostLogoutRedirect } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import type { Session } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { useFlow } from './flow.ts'

/** The end session endpoint (OpenID Connect RP-Initiated Logout §2): apps send users here to sign out. */
export function Logout() {
  const words = useMessages().logout
  const doing = useActions()
  const view = readPageData('logout')
  const flow = useFlow(view)
  const look = { name: 'retry', label: useMessages().account.retry, do: flow.look }
  useEffect(() => void doing.perform(look), [])

  const { step } = flow
  return (
    <PageLayout title={words.title}>
      <section class="step">
        {step.at === 'look' && (doing.problem === undefined ? <Spinner /> : <Actions of={[look]} doing={doing} />)}
        {step.at === 'ask' && <ConfirmSignOut session={step.session} doing={doing} onSignOut={flow.approve} />}
        {step.at === 'signed out' && <SignedOut after={view.after} />}
        {step.at === 'leave' && <p role="status">{words.leaving(redirectTargetLabel(step.url))}</p>}
      </section>
    </PageLayout>
  )
}

type ConfirmSignOutProps = { session: Session; doing: ActionState; onSignOut: () => Promise<void> }

function ConfirmSignOut({ session, doing, onSignOut }: ConfirmSignOutProps) {
  const words = useMessages().logout
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

function SignedOut({ after }: { after: PostLogoutRedirect }) {
  const { logout: words, error } = useMessages()
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
