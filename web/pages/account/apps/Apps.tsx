import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import type { SectionProps } from '../account-data.ts'
import { useAccountWords } from '../words.ts'
import { AppEntry } from './AppEntry.tsx'
import { delegationsRevokedWith } from './delegation-list.ts'
import { DisconnectApp, RevokeDelegation } from './DisconnectApp.tsx'
import { Delegations } from './Delegations.tsx'
import { KeyPlaces } from './KeyPlaces.tsx'

/** Lists the user's connected apps, and their delegations. */
export function Apps({ data, onChange }: SectionProps) {
  const words = useAccountWords().apps
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
    onChange((current) => ({
      ...current,
      authorizations: current.authorizations.filter(({ id }) => id !== disconnected.id),
      delegations: left,
    }))
    close()
    toast(words.disconnected(disconnected.appName))
  }
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Card flush title={words.connected}>
        <ConnectedApps
          authorizations={authorizations}
          handleOf={handleOf}
          isDialogOpen={isDialogOpen}
          onKey={setKeyed}
          onDisconnect={setDisconnecting}
        />
      </Card>
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
            onChange((current) => ({ ...current, delegations: left }))
            close()
            toast(words.revoked)
          }}
          onClose={close}
        />
      )}
    </>
  )
}

type ConnectedAppsProps = {
  authorizations: Authorization[]
  handleOf: (authorization: Authorization) => string
  isDialogOpen: boolean
  onKey: (authorization: Authorization) => void
  onDisconnect: (authorization: Authorization) => void
}

/** The connected apps, the one used last first. */
function ConnectedApps({ authorizations, handleOf, isDialogOpen, onKey, onDisconnect }: ConnectedAppsProps) {
  const words = useAccountWords().apps
  const latest = authorizations.toSorted((one, other) => other.lastAuthorizedAt.localeCompare(one.lastAuthorizedAt))
  if (latest.length === 0)
    return (
      <Empty icon="app-window" title={words.none}>
        <p>{words.noneWhat}</p>
      </Empty>
    )
  return (
    <ul class="list">
      {latest.map((authorization) => (
        <AppEntry
          key={authorization.id}
          of={authorization}
          handle={handleOf(authorization)}
          isDialogOpen={isDialogOpen}
          onKey={() => onKey(authorization)}
          onDisconnect={() => onDisconnect(authorization)}
        />
      ))}
    </ul>
  )
}
