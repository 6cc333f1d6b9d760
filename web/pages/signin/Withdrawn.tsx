import type { SignInView, Withdrawal } from '@countersign/protocol/pages'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'

type Props = { why: Withdrawal; view: SignInView; doing: Doing; onBack: (why: Withdrawal) => void }

/** The other app has given up what was asked for, while this page was open. */
export function Withdrawn({ why, view: { app, unverified, connector, silently }, doing, onBack }: Props) {
  const words = useWords().connect
  if (silently) return <Waiting />
  const back: Action = { name: 'back', label: words.back(unverified?.host ?? app.name), do: () => onBack(why) }
  return (
    <>
      <StepHeading level={2}>{words.withdrawn[why](connector?.owner.name ?? '')}</StepHeading>
      <p>{words.nothingGranted}</p>
      <Actions of={[back]} doing={doing} />
    </>
  )
}
