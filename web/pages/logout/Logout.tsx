import type { PostLogoutRedirect } from '@countersign/protocol/pages'
import { useEffect } from 'preact/hooks'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import type { Session } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { useFlow } from './flow.ts'
import { usePageWords } from './words.ts'
import { atHandle } from '../../lib/text/handle.ts'
import '../../components/unlock/unlock.css'

/** The end session endpoint (OpenID Connect RP-Initiated Logout §2): apps send users here to sign out. */
export function Logout() {
  const words = usePageWords()
  const doing = useActions()
  const view = readPageData('logout')
  const flow = useFlow(view)
  const look = { name: 'retry', label: useMessages().frame.retry, do: flow.look }
  useEffect(() => void doing.perform(look), [])

  const { step } = flow
  return (
    <PageLayout title={words.title} step={step.at} where>
      <section class="stack loose">
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
  const words = usePageWords()
  return (
    <>
      <div class="stack tight">
        <StepHeading>{words.question}</StepHeading>
        <p class="lead">{words.who}</p>
      </div>
      <ul class="stack">
        {session.identities.map(({ identityId, displayName, handle, avatarUrl }) => (
          <li key={identityId}>
            <Person
              avatar={<Avatar name={displayName} toneOf={handle} picture={avatarUrl} />}
              name={displayName}
              detail={atHandle(handle)}
            />
          </li>
        ))}
      </ul>
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
  const words = usePageWords()
  return (
    <>
      <span class="glyph ok">
        <Icon name="circle-check" />
      </span>
      <div class="stack tight">
        <StepHeading>{words.signedOut}</StepHeading>
        <p class="lead">{words.elsewhere}</p>
        {after.at === 'here' && after.refused && <p class="soft">{words.refused}</p>}
      </div>
      <div class="actions">
        <a class="button primary" href="/login">
          {words.signInAgain}
        </a>
        <a class="button" href="/">
          {words.home}
        </a>
      </div>
    </>
  )
}
