import { startSso } from '../start-sso.ts'
import { Actions } from '../ui/Actions.tsx'
import type { Doing } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
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
