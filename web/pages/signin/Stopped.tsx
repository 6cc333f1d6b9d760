import type { SignInView } from '@countersign/protocol/pages'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'

/**
 * Shown if the server returns another redirect URI or key recipient than the app requested. The app key is not sent.
 */
export function Stopped({ to, view: { app } }: { to: string; view: SignInView }) {
  const { stopped: words } = useMessages().signin
  return (
    <>
      <StepHeading level={2}>{words.title}</StepHeading>
      <p class="problem">{words.why(app.name, redirectTargetLabel(to))}</p>
      <p>{words.whatNow}</p>
    </>
  )
}
