import { startSso } from '../../lib/start-sso.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import type { OwnSignIn } from './steps.ts'

/** The organization asks its members to sign in with its own provider; from there they come back to this request. */
export function SignInThere({ place, doing }: { place: OwnSignIn; doing: Doing }) {
  const { signin: words } = useWords()
  const { organizationName: name, loginUrl } = place
  const leave = () => startSso(loginUrl, { returnTo: location.href })
  return (
    <section class="step">
      <StepHeading>{words.asksForItsOwn(name)}</StepHeading>
      <Actions of={[{ name: 'sign-in-there', label: words.continueWith(name), do: leave }]} doing={doing} />
    </section>
  )
}
