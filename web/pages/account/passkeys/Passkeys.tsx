import { limits } from '@countersign/protocol/formats/limits'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { tellPasskeys } from '../../../lib/passkey-signals.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { Addition } from './Addition.tsx'
import { useAddition } from './addition-flow.ts'
import { Removal } from './Removal.tsx'
import { RenamePasskey } from './RenamePasskey.tsx'
import { Renewal } from './Renewal.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }
type Asked = { about: 'name' | 'removal'; passkey: Passkey }

export function Passkeys({ holdings, onChange }: Props) {
  const words = useSpeech().words.passkeys
  const doing = useDoing()
  const [asked, setAsked] = useState<Asked>()
  const { passkeys, session } = holdings
  const { userId } = session.user
  const keep = (kept: Passkey[], sessions = holdings.sessions) => {
    onChange({ ...holdings, sessions, passkeys: kept })
    setAsked(undefined)
    const ids = kept.map(({ credentialId }) => credentialId)
    void tellPasskeys(userId, ids)
  }
  const addition = useAddition(userId, (added) => keep([...passkeys, added]))
  const { step } = addition
  if (step.at !== 'rest') return <Addition addition={addition} userId={userId} doing={doing} />

  const add = { name: 'add-passkey', label: words.add, look: 'secondary' as const, do: addition.begin }
  return (
    <Renewal holdings={holdings} onChange={onChange}>
      <h1>{words.title}</h1>
      <p role="status">{step.added !== undefined && words.added(step.added)}</p>
      <ul class="entries">
        {passkeys.map((passkey) => (
          <li key={passkey.credentialId} class="entry">
            <Description of={passkey} />
            <Choices passkey={passkey} removable={passkeys.length > 1} onAsked={setAsked} />
          </li>
        ))}
      </ul>
      {passkeys.length < limits.passkeysPerUserMax && <Actions of={[add]} doing={doing} />}
      {asked?.about === 'name' && (
        <RenamePasskey
          passkey={asked.passkey}
          onRenamed={(renamed) => keep(passkeys.map((each) => (each === asked.passkey ? renamed : each)))}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked?.about === 'removal' && (
        <Removal
          passkey={asked.passkey}
          holdings={holdings}
          onRemoved={(sessions) =>
            keep(
              passkeys.filter((each) => each !== asked.passkey),
              sessions,
            )
          }
          onClose={() => setAsked(undefined)}
        />
      )}
    </Renewal>
  )
}

type ChoicesProps = { passkey: Passkey; removable: boolean; onAsked: (asked: Asked) => void }

function Choices({ passkey, removable, onAsked }: ChoicesProps) {
  const words = useSpeech().words.passkeys
  const { name } = passkey
  return (
    <div class="choices">
      <button
        type="button"
        class="button quiet"
        aria-label={words.renameOne(name)}
        onClick={() => onAsked({ about: 'name', passkey })}
      >
        {words.rename}
      </button>
      {removable && (
        <button
          type="button"
          class="button quiet"
          aria-label={words.removeOne(name)}
          onClick={() => onAsked({ about: 'removal', passkey })}
        >
          {words.remove}
        </button>
      )}
    </div>
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
