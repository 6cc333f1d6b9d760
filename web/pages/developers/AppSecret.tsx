import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import type { Told } from './Developers.tsx'
import { Rotation } from './Rotation.tsx'
import { useWords } from './words.ts'

type Props = { app: App; onTold: (told: Told) => void }

/** Replacing the secret of an app. */
export function AppSecret({ app: { clientId }, onTold }: Props) {
  const words = useWords().developers
  const [asking, setAsking] = useState(false)
  const rotate = async (graceSeconds: number) => {
    const given = { params: { clientId }, body: { graceSeconds } }
    const told = await call('POST /api/developer/apps/:clientId/secret', given)
    setAsking(false)
    onTold(told)
  }
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
      {asking && <Rotation onRotate={rotate} onClose={() => setAsking(false)} />}
    </section>
  )
}
