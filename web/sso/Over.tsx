import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'

/** The sign-in has expired, or was used before. */
export function Over() {
  const words = useWords().sso
  return (
    <>
      <StepHeading>{words.over}</StepHeading>
      <p class="lead">{words.beginAgain}</p>
    </>
  )
}
