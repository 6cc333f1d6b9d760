import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { parseScope } from '@countersign/protocol/formats/scope'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import { shortScopeLabels } from '../../../lib/text/scope-words.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import type { AccountData } from '../Account.tsx'
import { delegationsRevokedWith } from './delegation-list.ts'
import { DisconnectApp, RevokeDelegation } from './DisconnectApp.tsx'
import { Delegations } from './Delegations.tsx'
import { KeyPlaces } from './KeyPlaces.tsx'

type Props = { data: AccountData; onChange: (data: AccountData) => void }

/** Lists the user's connected apps, and their delegations. */
export function Apps({ data, onChange }: Props) {
  const words = useLocale().words.apps
  const [disconnecting, setDisconnecting] = useState<Authorization>()
  const [ending, setEnding] = useState<Delegation>()
  const [keyed, setKeyed] = useState<Authorization>()
  const { authorizations, delegations, session } = data
  const isDialogOpen = disconnecting !== undefined || ending !== undefined || keyed !== undefined
  const handleOf = ({ identityId }: { identityId: string }) =>
    session.identities.find((identity) => identity.identityId === identityId)?.handle ?? ''
  const close = () => {
    setDisconnecting(undefined)
    setEnding(undefined)
    setKeyed(undefined)
  }
  const remove = (disconnected: Authorization, left: Delegation[]) => {
    const remaining = authorizations.filter((each) => each !== disconnected)
    onChange({ ...data, authorizations: remaining, delegations: left })
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
            <Choices
              of={authorization}
              isDialogOpen={isDialogOpen}
              onKey={() => setKeyed(authorization)}
              onDisconnect={() => setDisconnecting(authorization)}
            />
          </li>
        ))}
      </ul>
      <Delegations delegations={delegations} handleOf={handleOf} isDialogOpen={isDialogOpen} onEnd={setEnding} />
      {disconnecting && (
        <DisconnectApp
          authorization={disconnecting}
          handle={handleOf(disconnecting)}
          ending={delegationsRevokedWith(disconnecting, delegations)}
          onRevoked={(left) => remove(disconnecting, left)}
          onClose={close}
        />
      )}
      {keyed && <KeyPlaces authorization={keyed} userId={session.user.userId} onClose={close} />}
      {ending && (
        <RevokeDelegation
          delegation={ending}
          handle={handleOf(ending)}
          onEnded={(left) => {
            onChange({ ...data, delegations: left })
            close()
          }}
          onClose={close}
        />
      )}
    </section>
  )
}

type ChoicesProps = { of: Authorization; isDialogOpen: boolean; onKey: () => void; onDisconnect: () => void }

function Choices({ of: { encryptionMode }, isDialogOpen, onKey, onDisconnect }: ChoicesProps) {
  const words = useLocale().words.apps
  return (
    <div class="choices">
      {encryptionMode !== null && (
        <button type="button" class="button quiet" data-action="key-places" onClick={onKey}>
          {words.key}
        </button>
      )}
      <button
        type="button"
        class="button quiet"
        // While a dialog is open, only its button has the hook.
        data-action={isDialogOpen ? undefined : 'revoke'}
        onClick={onDisconnect}
      >
        {words.disconnect}
      </button>
    </div>
  )
}

function Description({
  of: { appName, appWebsiteUrl, scope, createdAt },
  handle,
}: {
  of: Authorization
  handle: string
}) {
  const { words, language } = useLocale()
  const since = words.apps.since(dayOf(createdAt, language, new Date()))
  return (
    <div>
      <h2>{appName}</h2>
      {appWebsiteUrl !== null && <p class="place">{redirectTargetLabel(appWebsiteUrl)}</p>}
      <p>
        {words.apps.as(handle)}, {since}
      </p>
      {scope !== '' && <p class="grants">{shortScopeLabels(parseScope(scope), words).join(', ')}</p>}
    </div>
  )
}
