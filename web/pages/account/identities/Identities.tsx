import { limits } from '@countersign/protocol/formats/limits'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { tellDetails } from '../../../lib/passkey-signals.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { AddIdentity } from './AddIdentity.tsx'
import { ChangeIdentity } from './ChangeIdentity.tsx'
import { DeleteIdentity } from './DeleteIdentity.tsx'
import { Email } from './Email.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }
type Question = { about: 'change' | 'email' | 'delete'; identity: Identity } | { about: 'new' }

export function Identities({ holdings, onChange }: Props) {
  const words = useWords().identities
  const [asked, setAsked] = useState<Question>()
  const { session, authorizations } = holdings
  const close = () => setAsked(undefined)
  const keep = (identities: Identity[]) => {
    const lives = ({ identityId }: { identityId: string }) => identities.some((each) => each.identityId === identityId)
    onChange({ ...holdings, authorizations: authorizations.filter(lives), session: { ...session, identities } })
    close()
    const [first] = identities
    // Passkeys are kept under the first of a person's names.
    if (first) void tellDetails(session.user.userId, first)
  }
  const replace = (changed: Identity) =>
    keep(session.identities.map((each) => (each.identityId === changed.identityId ? changed : each)))
  const remove = (gone: Identity) => keep(session.identities.filter((each) => each !== gone))
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
            <Choices identity={identity} isLast={session.identities.length === 1} onChoose={setAsked} />
          </li>
        ))}
      </ul>
      {session.identities.length < limits.identitiesPerUserMax ? (
        <p>
          <button type="button" class="button secondary" onClick={() => setAsked({ about: 'new' })}>
            {words.add}
          </button>
        </p>
      ) : (
        <p>{words.tooMany}</p>
      )}
      {asked?.about === 'new' && (
        <AddIdentity onAdded={(added) => keep([...session.identities, added])} onClose={close} />
      )}
      {asked?.about === 'change' && <ChangeIdentity identity={asked.identity} onChanged={replace} onClose={close} />}
      {asked?.about === 'email' && <Email identity={asked.identity} onChanged={replace} onClose={close} />}
      {asked?.about === 'delete' && (
        <DeleteIdentity identity={asked.identity} onDeleted={() => remove(asked.identity)} onClose={close} />
      )}
    </section>
  )
}

type ChoicesProps = { identity: Identity; isLast: boolean; onChoose: (question: Question) => void }

/** What one can do with a name. The last one goes with the account alone. */
function Choices({ identity, isLast, onChoose }: ChoicesProps) {
  const words = useWords().identities
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
