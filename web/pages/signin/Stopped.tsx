import type { SignInView } from '@countersign/protocol/pages'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { Note } from '../../components/ui/Chip.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'

/**
 * Shown if the server returns another redirect URI or key recipient than the app requested. The app key is not sent.
 */
export function Stopped({ to, view: { app } }: { to: string; view: SignInView }) {
  const { stopped: words } = useConsentMessages().signin
  return (
    <section class="stack">
      <StepHeading level={2}>{words.title}</StepHeading>
      <Note tone="bad">{words.why(app.name, redirectTargetLabel(to))}</Note>
      <p>{words.whatNow}</p>
    </section>
  )
}
