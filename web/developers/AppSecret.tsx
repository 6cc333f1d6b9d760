import type { App } from '@countersign/protocol/apps'
import { useState } from 'preact/hooks'
import { call } from '../call.ts'
import { withFreshProof } from '../passkey.ts'
import { ActionForm } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Options } from '../ui/Options.tsx'
import { useWords } from '../ui/Root.tsx'
import type { Told } from './Developers.tsx'

/** How long the old secret may work still; the last is the most that the interface lets. */
const graces = { none: 0, hour: 3600, day: 24 * 3600, week: 7 * 24 * 3600 }
type Grace = keyof typeof graces

type Props = { app: App; onTold: (told: Told) => void }

/** Replacing the secret of an app. */
export function AppSecret({ app, onTold }: Props) {
  const words = useWords().developers
  const [asking, setAsking] = useState(false)
  return (
    <section class="step apart">
      <h2>{words.secret}</h2>
      <p>{words.rotateWhat}</p>
      <p>
        <button
          type="button"
          class="button secondary"
          data-action="new-secret"
          aria-haspopup="dialog"
          onClick={() => setAsking(true)}
        >
          {words.rotate}
        </button>
      </p>
      {asking && (
        <Rotation
          app={app}
          onTold={(told) => {
            setAsking(false)
            onTold(told)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}

function Rotation({ app: { clientId }, onTold, onClose }: Props & { onClose: () => void }) {
  const words = useWords()
  const doing = useDoing()
  const [grace, setGrace] = useState<Grace>('day')
  const rotate: Action = {
    name: 'rotate-secret',
    label: words.developers.rotateNow,
    do: async () => {
      const given = { params: { clientId }, body: { graceSeconds: graces[grace] } }
      onTold(await withFreshProof(() => call('POST /api/developer/apps/:clientId/secret', given)))
    },
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
