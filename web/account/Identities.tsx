import { limits } from '@countersign/protocol/formats/limits'
import type { Identity } from '@countersign/protocol/identities'
import { useState } from 'preact/hooks'
import { tellDetails } from '../passkey-signals.ts'
import { useWords } from '../ui/Root.tsx'
import type { Holdings } from './Account.tsx'
import { AddIdentity } from './AddIdentity.tsx'
import { RenameIdentity } from './RenameIdentity.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }

export function Identities({ holdings, onChange }: Props) {
  const words = useWords().identities
  const [asked, setAsked] = useState<Identity | 'new'>()
  const { session } = holdings
  const keep = (identities: Identity[]) => {
    onChange({ ...holdings, session: { ...session, identities } })
    const [first] = identities
    // Passkeys are kept under the first of a person's names.
    if (first) void tellDetails(session.user.userId, first)
    setAsked(undefined)
  }
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
            <button type="button" class="button quiet" onClick={() => setAsked(identity)}>
              {words.rename}
            </button>
          </li>
        ))}
      </ul>
      {session.identities.length < limits.identitiesPerUserMax ? (
        <p>
          <button type="button" class="button secondary" onClick={() => setAsked('new')}>
            {words.add}
          </button>
        </p>
      ) : (
        <p>{words.tooMany}</p>
      )}
      {asked === 'new' && (
        <AddIdentity onAdded={(added) => keep([...session.identities, added])} onClose={() => setAsked(undefined)} />
      )}
      {asked !== undefined && asked !== 'new' && (
        <RenameIdentity
          identity={asked}
          onRenamed={(renamed) => keep(session.identities.map((each) => (each === asked ? renamed : each)))}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  )
}
