import type { Passkey } from '@countersign/protocol/passkeys'
import { dayOf } from '../dates.ts'
import { useSpeech } from '../ui/Root.tsx'
import type { Holdings } from './Account.tsx'
import { Renewal } from './Renewal.tsx'

export function Passkeys({ holdings }: { holdings: Holdings }) {
  const words = useSpeech().words.passkeys
  return (
    <Renewal holdings={holdings}>
      <h1>{words.title}</h1>
      <ul class="entries">
        {holdings.passkeys.map((passkey) => (
          <li key={passkey.credentialId} class="entry">
            <Description of={passkey} />
          </li>
        ))}
      </ul>
    </Renewal>
  )
}

function Description({ of: passkey }: { of: Passkey }) {
  const { words, language } = useSpeech()
  const now = new Date()
  const { created, used, synced, oneDevice, opensKeys, signsInOnly } = words.passkeys
  return (
    <div>
      <h2>{passkey.name}</h2>
      <p>
        {created(dayOf(passkey.createdAt, language, now))}, {used(dayOf(passkey.lastUsedAt, language, now))}
      </p>
      <p>
        {passkey.backedUp ? synced : oneDevice} · {passkey.opensKeys ? opensKeys : signsInOnly}
      </p>
    </div>
  )
}
