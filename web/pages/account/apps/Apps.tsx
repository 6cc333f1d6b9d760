import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { scopesOf } from '@countersign/protocol/formats/scope'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { placeOf } from '../../../lib/place.ts'
import { scopesInShort } from '../../../lib/text/scope-words.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import type { Holdings } from '../Account.tsx'
import { endingWith } from './delegation-list.ts'
import { DelegationEnd } from './DelegationEnd.tsx'
import { Delegations } from './Delegations.tsx'
import { Revocation } from './Revocation.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }

/** The apps that the person connected, and what they may do at one another. */
export function Apps({ holdings, onChange }: Props) {
  const words = useSpeech().words.apps
  const [asked, setAsked] = useState<Authorization>()
  const [ending, setEnding] = useState<Delegation>()
  const { authorizations, delegations, session } = holdings
  const isAsking = asked !== undefined || ending !== undefined
  const handleOf = ({ identityId }: { identityId: string }) =>
    session.identities.find((identity) => identity.identityId === identityId)?.handle ?? ''
  const close = () => {
    setAsked(undefined)
    setEnding(undefined)
  }
  const forget = (gone: Authorization, left: Delegation[]) => {
    const kept = authorizations.filter((each) => each !== gone)
    onChange({ ...holdings, authorizations: kept, delegations: left })
    close()
  }
  return (
    <section class="step">
      <h1>{words.title}</h1>
      {authorizations.length === 0 && <p class="lead">{words.none}</p>}
      <ul class="entries">
        {authorizations.map((authorization) => (
          <li key={authorization.id} class="entry with-monogram">
            <Monogram name={authorization.appName} />
            <Description of={authorization} handle={handleOf(authorization)} />
            <button
              type="button"
              class="button quiet"
              // While a question is open, its answer alone carries the hook.
              data-action={isAsking ? undefined : 'revoke'}
              onClick={() => setAsked(authorization)}
            >
              {words.disconnect}
            </button>
          </li>
        ))}
      </ul>
      <Delegations delegations={delegations} handleOf={handleOf} asking={isAsking} onEnd={setEnding} />
      {asked && (
        <Revocation
          authorization={asked}
          handle={handleOf(asked)}
          ending={endingWith(asked, delegations)}
          onRevoked={(left) => forget(asked, left)}
          onClose={close}
        />
      )}
      {ending && (
        <DelegationEnd
          delegation={ending}
          handle={handleOf(ending)}
          onEnded={(left) => {
            onChange({ ...holdings, delegations: left })
            close()
          }}
          onClose={close}
        />
      )}
    </section>
  )
}

function Description({
  of: { appName, appWebsiteUrl, scope, createdAt },
  handle,
}: {
  of: Authorization
  handle: string
}) {
  const { words, language } = useSpeech()
  const since = words.apps.since(dayOf(createdAt, language, new Date()))
  return (
    <div>
      <h2>{appName}</h2>
      {appWebsiteUrl !== null && <p class="place">{placeOf(appWebsiteUrl)}</p>}
      <p>
        {words.apps.as(handle)}, {since}
      </p>
      {scope !== '' && <p class="grants">{scopesInShort(scopesOf(scope), words).join(', ')}</p>}
    </div>
  )
}
