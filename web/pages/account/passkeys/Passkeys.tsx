import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { useState } from 'preact/hooks'
import { signalUnknownCredential } from '../../../lib/keys/passkey-signals.ts'
import { dayOf, formatAgo } from '../../../lib/text/dates.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { useLocale } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon, type IconName } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import type { AccountData } from '../account-data.ts'
import { useAccountWords } from '../words.ts'
import { RemovePasskey, RenamePasskey } from './EditPasskey.tsx'

type Props = {
  data: AccountData
  doing: ActionState
  onAdd: () => Promise<void>
  onChanged: (passkeys: Passkey[], sessions?: SessionEntry[]) => void
}
type PasskeyDialog = { about: 'name' | 'removal'; passkey: Passkey }

/** Lists the passkeys, each with what it can do, and changes their names. */
export function Passkeys({ data, doing, onAdd, onChanged }: Props) {
  const words = useAccountWords().security
  const { add } = useLocale().words.passkeys
  const [dialog, setDialog] = useState<PasskeyDialog>()
  const close = () => setDialog(undefined)
  const { passkeys, sessions } = data
  const usedNow = sessions.find(({ current }) => current)?.passkey?.credentialId
  const addPasskey: Action = { name: 'add-passkey', label: add, icon: 'plus', look: 'secondary', do: onAdd }
  return (
    <Card
      flush
      title={words.passkeys}
      {...(passkeys.length < pageLimits.passkeysPerUserMax && {
        actions: <ActionButton action={addPasskey} doing={doing} />,
      })}
    >
      <ErrorMessage of={doing.problem} />
      <ul class="list">
        {passkeys.map((passkey) => (
          <Entry
            key={passkey.credentialId}
            of={passkey}
            isUsedNow={passkey.credentialId === usedNow}
            isLast={passkeys.length === 1}
            onOpenDialog={setDialog}
          />
        ))}
      </ul>
      {dialog?.about === 'name' && (
        <RenamePasskey
          passkey={dialog.passkey}
          onRenamed={(renamed) => {
            onChanged(passkeys.map((each) => (each === dialog.passkey ? renamed : each)))
            close()
            toast(words.renamed)
          }}
          onClose={close}
        />
      )}
      {dialog?.about === 'removal' && (
        <RemovePasskey
          passkey={dialog.passkey}
          data={data}
          onRemoved={(left) => {
            onChanged(
              passkeys.filter((each) => each !== dialog.passkey),
              left,
            )
            // Not as a list of those that are left: this page may not know one that was added elsewhere.
            void signalUnknownCredential(dialog.passkey.credentialId)
            close()
            toast(words.removed)
          }}
          onClose={close}
        />
      )}
    </Card>
  )
}

type EntryProps = {
  of: Passkey
  isUsedNow: boolean
  isLast: boolean
  onOpenDialog: (dialog: PasskeyDialog) => void
}

function Entry({ of: passkey, isUsedNow, isLast, onOpenDialog }: EntryProps) {
  const words = useAccountWords().security
  const { words: shared, language } = useLocale()
  const { used, synced, signsInOnly } = shared.passkeys
  const { name, createdAt, lastUsedAt, backedUp, opensKeys } = passkey
  const now = new Date()
  const facts = [words.added(dayOf(createdAt, language, now)), used(formatAgo(lastUsedAt, language, now))]
  return (
    <li class="with-menu" data-credential-id={passkey.credentialId}>
      <span class={isUsedNow ? 'glyph ok' : 'glyph'}>
        <Icon name={passkeyIcon(passkey)} />
      </span>
      <div class="body">
        <strong>
          {name}
          {isUsedNow && <Chip tone="pen">{words.usedNow}</Chip>}
          {backedUp && <Chip icon="refresh-cw">{synced}</Chip>}
        </strong>
        <small>{facts.join(' · ')}</small>
        {!opensKeys && <small class="amber">{signsInOnly}</small>}
      </div>
      <div class="acts">
        <Menu
          label={words.moreOf(name)}
          action="passkey-menu"
          items={[
            { label: words.rename, icon: 'pencil', onChoose: () => onOpenDialog({ about: 'name', passkey }) },
            ...(isLast
              ? []
              : ([
                  'divider',
                  {
                    label: words.remove,
                    icon: 'trash',
                    danger: true,
                    onChoose: () => onOpenDialog({ about: 'removal', passkey }),
                  },
                ] as const)),
          ]}
        />
      </div>
    </li>
  )
}

/** Returns the icon of where a passkey is: on a security key, a phone, with a password manager, or in this browser. */
function passkeyIcon({ transports = [], backedUp }: Pick<Passkey, 'transports' | 'backedUp'>): IconName {
  if (!backedUp && transports.some((transport) => ['usb', 'nfc', 'ble'].includes(transport))) return 'usb'
  if (transports.includes('hybrid') && !transports.includes('internal')) return 'smartphone'
  return backedUp ? 'key-round' : 'laptop'
}
