import { usePageWords } from './words.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'

import { Icon } from '../../components/ui/Icon.tsx'

/** Shown if the login has expired or was used before. */
export function Over() {
  const words = usePageWords()
  return (
    <>
      <span class="glyph wait">
        <Icon name="clock" />
      </span>
      <div class="stack tight">
        <StepHeading>{words.over}</StepHeading>
        <p class="lead">{words.beginAgain}</p>
      </div>
    </>
  )
}
