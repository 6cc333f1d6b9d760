import type { Authorization } from '@countersign/protocol/authorizations'
import { scopesOf } from '@countersign/protocol/formats/scope'
import { useState } from 'preact/hooks'
import { dayOf } from '../dates.ts'
import { placeOf } from '../place.ts'
import { scopesInShort } from '../scope-words.ts'
import { Monogram } from '../ui/Monogram.tsx'
import { useSpeech } from '../ui/Root.tsx'
import type { Holdings } from './Account.tsx'
import { Revocation } from './Revocation.tsx'

type Props = { holdings: Holdings; onChange: (holdings: Holdings) => void }

export function Apps({ holdings, onChange }: Props) {
  const words = useSpeech().words.apps
  const [asked, setAsked] = useState<Authorization>()
  const { authorizations, session } = holdings
  const handleOf = ({ identityId }: Authorization) =>
    session.identities.find((identity) => identity.identityId === identityId)?.handle ?? ''
  const forget = (gone: Authorization) => {
    onChange({ ...holdings, authorizations: authorizations.filter((each) => each !== gone) })
    setAsked(undefined)
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
              // While the question is open, its answer alone carries the hook.
              data-action={asked ? undefined : 'revoke'}
              onClick={() => setAsked(authorization)}
            >
              {words.disconnect}
            </button>
          </li>
        ))}
      </ul>
      {asked && (
        <Revocation
          authorization={asked}
          handle={handleOf(asked)}
          onRevoked={() => forget(asked)}
          onClose={() => setAsked(undefined)}
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
      <p class="grants">{scopesInShort(scopesOf(scope), words).join(', ')}</p>
    </div>
  )
}
