import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'

/** Shown if the login has expired or was used before. */
export function Over() {
  const words = useMessages().sso
  return (
    <>
      <StepHeading>{words.over}</StepHeading>
      <p class="lead">{words.beginAgain}</p>
    </>
  )
}
