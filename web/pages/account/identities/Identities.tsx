import { limits } from '@countersign/protocol/formats/limits'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { signalCurrentUserDetails } from '../../../lib/keys/passkey-signals.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { AddIdentity, DeleteIdentity, EditIdentity } from './EditIdentity.tsx'
import { Email } from './Email.tsx'

type Props = { data: AccountData; onChange: (data: AccountData) => void }
type IdentityDialog = { about: 'change' | 'email' | 'delete'; identity: Identity } | { about: 'new' }

export function Identities({ data, onChange }: Props) {
  const words = useMessages().identities
  const [dialog, setDialog] = useState<IdentityDialog>()
  const { session, authorizations } = data
  const close = () => setDialog(undefined)
  const updateIdentities = (identities: Identity[]) => {
    const lives = ({ identityId }: { identityId: string }) => identities.some((each) => each.identityId === identityId)
    onChange({ ...data, authorizations: authorizations.filter(lives), session: { ...session, identities } })
    close()
    const [first] = identities
    // Passkeys show the names of the user's first identity.
    if (first) void signalCurrentUserDetails(session.user.userId, first)
  }
  const replace = (changed: Identity) =>
    updateIdentities(session.identities.map((each) => (each.identityId === changed.identityId ? changed : each)))
  const remove = (deleted: Identity) => updateIdentities(session.identities.filter((each) => each !== deleted))
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <ul class="entries">
        {session.identities.map((identity) => (
          <li key={identity.identityId} class="entry">
            <div>
              <h2 class="written-name">{identity.displayName}</h2>
              <p>
                @{identity.handle} · {identity.email ?? words.noEmail}
              </p>
            </div>
            <Choices identity={identity} isLast={session.identities.length === 1} onChoose={setDialog} />
          </li>
        ))}
      </ul>
      {session.identities.length < limits.identitiesPerUserMax ? (
        <p>
          <button type="button" class="button secondary" onClick={() => setDialog({ about: 'new' })}>
            {words.add}
          </button>
        </p>
      ) : (
        <p>{words.tooMany}</p>
      )}
      {dialog?.about === 'new' && (
        <AddIdentity onAdded={(added) => updateIdentities([...session.identities, added])} onClose={close} />
      )}
      {dialog?.about === 'change' && <EditIdentity identity={dialog.identity} onChanged={replace} onClose={close} />}
      {dialog?.about === 'email' && <Email identity={dialog.identity} onChanged={replace} onClose={close} />}
      {dialog?.about === 'delete' && (
        <DeleteIdentity identity={dialog.identity} onDeleted={() => remove(dialog.identity)} onClose={close} />
      )}
    </section>
  )
}

type ChoicesProps = { identity: Identity; isLast: boolean; onChoose: (question: IdentityDialog) => void }

/** The actions of an identity. The last identity can only be deleted with the account. */
function Choices({ identity, isLast, onChoose }: ChoicesProps) {
  const words = useMessages().identities
  const abouts = isLast ? (['change', 'email'] as const) : (['change', 'email', 'delete'] as const)
  return (
    <div class="choices">
      {abouts.map((about) => (
        <button
          key={about}
          type="button"
          class="button quiet"
          aria-label={words.choose[about](identity.handle)}
          data-action={`${about}-of-identity`}
          data-identity-id={identity.identityId}
          onClick={() => onChoose({ about, identity })}
        >
          {words[about]}
        </button>
      ))}
    </div>
  )
}
