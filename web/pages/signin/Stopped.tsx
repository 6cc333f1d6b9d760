import type { SignInView } from '@countersign/protocol/pages'
import { placeOf } from '../../lib/place.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'

/** The server names another place for the key of the app than the app did: the key stays, and so does the person. */
export function Stopped({ to, view: { app } }: { to: string; view: SignInView }) {
  const { stopped: words } = useWords().signin
  return (
    <>
      <StepHeading level={2}>{words.title}</StepHeading>
      <p class="problem">{words.why(app.name, placeOf(to))}</p>
      <p>{words.whatNow}</p>
    </>
  )
}
