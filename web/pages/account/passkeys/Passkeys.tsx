import { limits } from '@countersign/protocol/formats/limits'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { signalAllAcceptedCredentials } from '../../../lib/keys/passkey-signals.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import { useAddPasskey } from './addition-flow.ts'
import { RemovePasskey, RenamePasskey } from './EditPasskey.tsx'
import { ReplaceRecoveryCode } from './ReplaceRecoveryCode.tsx'

type Props = { data: AccountData; onChange: (data: AccountData) => void }
type PasskeyDialog = { about: 'name' | 'removal'; passkey: Passkey }

export function Passkeys({ data, onChange }: Props) {
  const words = useLocale().words.passkeys
  const doing = useActions()
  const [dialog, setDialog] = useState<PasskeyDialog>()
  const { passkeys, session } = data
  const { userId } = session.user
  const updatePasskeys = (updated: Passkey[], sessions = data.sessions) => {
    onChange({ ...data, sessions, passkeys: updated })
    setDialog(undefined)
    const ids = updated.map(({ credentialId }) => credentialId)
    void signalAllAcceptedCredentials(userId, ids)
  }
  const addition = useAddPasskey(userId, (added) => updatePasskeys([...passkeys, added]))
  const { step } = addition
  if (step.at !== 'rest') return <AddPasskey addition={addition} userId={userId} doing={doing} />

  const add = { name: 'add-passkey', label: words.add, look: 'secondary' as const, do: addition.begin }
  return (
    <ReplaceRecoveryCode data={data} onChange={onChange}>
      <h1>{words.title}</h1>
      <p role="status">{step.added !== undefined && words.added(step.added)}</p>
      <ul class="entries">
        {passkeys.map((passkey) => (
          <li key={passkey.credentialId} class="entry">
            <Description of={passkey} />
            <Choices passkey={passkey} removable={passkeys.length > 1} onOpenDialog={setDialog} />
          </li>
        ))}
      </ul>
      {passkeys.length < limits.passkeysPerUserMax && <Actions of={[add]} doing={doing} />}
      {dialog?.about === 'name' && (
        <RenamePasskey
          passkey={dialog.passkey}
          onRenamed={(renamed) => updatePasskeys(passkeys.map((each) => (each === dialog.passkey ? renamed : each)))}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog?.about === 'removal' && (
        <RemovePasskey
          passkey={dialog.passkey}
          data={data}
          onRemoved={(sessions) =>
            updatePasskeys(
              passkeys.filter((each) => each !== dialog.passkey),
              sessions,
            )
          }
          onClose={() => setDialog(undefined)}
        />
      )}
    </ReplaceRecoveryCode>
  )
}

type ChoicesProps = { passkey: Passkey; removable: boolean; onOpenDialog: (dialog: PasskeyDialog) => void }

function Choices({ passkey, removable, onOpenDialog }: ChoicesProps) {
  const words = useLocale().words.passkeys
  const { name } = passkey
  return (
    <div class="choices">
      <button
        type="button"
        class="button quiet"
        aria-label={words.renameOne(name)}
        onClick={() => onOpenDialog({ about: 'name', passkey })}
      >
        {words.rename}
      </button>
      {removable && (
        <button
          type="button"
          class="button quiet"
          aria-label={words.removeOne(name)}
          onClick={() => onOpenDialog({ about: 'removal', passkey })}
        >
          {words.remove}
        </button>
      )}
    </div>
  )
}

function Description({ of: passkey }: { of: Passkey }) {
  const { words, language } = useLocale()
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
