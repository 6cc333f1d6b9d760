import { useState } from 'preact/hooks'
import { withFreshProof } from '../../lib/passkey.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { Dialog } from '../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { Options } from '../../components/form/Options.tsx'
import { useWords } from './words.ts'

/** How long the old secret may work still; the last is the most that the interface lets. */
const graces = { none: 0, hour: 3600, day: 24 * 3600, week: 7 * 24 * 3600 }
type Grace = keyof typeof graces

type Props = { onRotate: (graceSeconds: number) => Promise<void>; onClose: () => void }

/** The last question before a secret is replaced: for how long both are good. */
export function Rotation({ onRotate, onClose }: Props) {
  const words = useWords()
  const doing = useDoing()
  const [grace, setGrace] = useState<Grace>('day')
  const rotate: Action = {
    name: 'rotate-secret',
    label: words.developers.rotateNow,
    do: () => withFreshProof(() => onRotate(graces[grace])),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.developers.rotateTitle} onClose={onClose}>
      <ActionForm submit={rotate} others={[cancel]} doing={doing}>
        <Options
          name="grace"
          legend={words.developers.grace}
          of={(['none', 'hour', 'day', 'week'] as const).map((value) => ({
            value,
            label: words.developers.graces[value],
          }))}
          chosen={[grace]}
          onChoose={setGrace}
        />
      </ActionForm>
    </Dialog>
  )
}
