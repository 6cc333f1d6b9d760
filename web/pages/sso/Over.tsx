import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'

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
