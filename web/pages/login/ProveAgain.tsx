import { reauthenticate } from '../../lib/passkey.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'

/** For pages of another host, where no passkey of this one answers: they send people here to prove it is them. */
export function ProveAgain({ onProved }: { onProved: () => void }) {
  const words = useWords().login
  const doing = useDoing()
  const prove: Action = {
    name: 'prove',
    label: words.prove,
    do: async () => {
      await reauthenticate()
      onProved()
    },
  }
  return (
    <>
      <StepHeading>{words.proveTitle}</StepHeading>
      <Actions of={[prove]} doing={doing} />
    </>
  )
}
