import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { signalCurrentUserDetails } from '../../../lib/keys/passkey-signals.ts'
import { updateKnownUser } from '../../../lib/session/known-users.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { useMessages } from '../words.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import { withIdentities, type SectionProps } from '../account-data.ts'
import { useAccountWords } from '../words.ts'
import { AddIdentity, DeleteIdentity, EditIdentity } from './EditIdentity.tsx'
import { Email } from './Email.tsx'
import { IdentityCard, type IdentityDialog } from './IdentityCard.tsx'

/** The identities of the user: what apps may see, one at a time. */
export function Identities({ data, onChange }: SectionProps) {
  const { title, lead, tooMany } = useMessages().identities
  const words = useAccountWords().identities
  const [dialog, setDialog] = useState<IdentityDialog>()
  const { identities } = data.session
  const add = (
    <button
      type="button"
      class="button primary"
      data-action="new-identity"
      aria-haspopup="dialog"
      onClick={() => setDialog({ about: 'new' })}
    >
      <Icon name="plus" size="sm" />
      {words.add}
    </button>
  )
  const isFull = identities.length >= pageLimits.identitiesPerUserMax
  return (
    <>
      <PageHead title={title} lead={lead} {...(!isFull && { actions: add })} />
      {isFull && <p class="soft">{tooMany}</p>}
      <div class="grid-2 even">
        {identities.map((identity, index) => (
          <IdentityCard
            key={identity.identityId}
            identity={identity}
            data={data}
            isFirst={index === 0 && identities.length > 1}
            isLast={identities.length === 1}
            onChoose={setDialog}
          />
        ))}
      </div>
      <OpenDialog of={dialog} data={data} onChange={onChange} onChoose={setDialog} />
    </>
  )
}

type OpenDialogProps = SectionProps & {
  of: IdentityDialog | undefined
  onChoose: (dialog: IdentityDialog | undefined) => void
}

/** The dialog that is open, if any, and what its outcome changes. */
function OpenDialog({ of: dialog, data, onChange, onChoose }: OpenDialogProps) {
  const words = useAccountWords().identities
  const { session } = data
  const { identities } = session
  const close = () => onChoose(undefined)
  const updateIdentities = (updated: Identity[], said: string) => {
    onChange((current) => withIdentities(current, updated))
    close()
    toast(said)
    updateKnownUser(session.user.userId, updated)
    const [first] = updated
    // Passkeys show the names of the user's first identity.
    if (first) void signalCurrentUserDetails(session.user.userId, first)
  }
  const withChanged = (all: Identity[], changed: Identity) =>
    all.map((each) => (each.identityId === changed.identityId ? changed : each))
  const setIdentity = (changed: Identity) => {
    onChange(({ session: { identities: all, ...rest }, ...current }) => ({
      ...current,
      session: { ...rest, identities: withChanged(all, changed) },
    }))
    updateKnownUser(session.user.userId, withChanged(identities, changed))
  }
  const replace = (changed: Identity, said: string) => updateIdentities(withChanged(identities, changed), said)
  return (
    <>
      {dialog?.about === 'new' && (
        <AddIdentity
          identities={identities}
          onAdded={(added) => updateIdentities([...identities, added], words.added(added.handle))}
          onClose={close}
        />
      )}
      {dialog?.about === 'change' && (
        <EditIdentity
          identity={dialog.identity}
          onChanged={(changed) => replace(changed, words.saved)}
          onPicture={(changed) => {
            setIdentity(changed)
            onChoose({ about: 'change', identity: changed })
          }}
          onClose={close}
        />
      )}
      {dialog?.about === 'email' && (
        <Email
          identity={dialog.identity}
          onChanged={(changed) => replace(changed, changed.email === null ? words.emailRemoved : words.emailSaved)}
          onClose={close}
        />
      )}
      {dialog?.about === 'delete' && (
        <DeleteIdentity
          identity={dialog.identity}
          onDeleted={() =>
            updateIdentities(
              identities.filter((each) => each !== dialog.identity),
              words.deleted(dialog.identity.handle),
            )
          }
          onClose={close}
        />
      )}
    </>
  )
}
