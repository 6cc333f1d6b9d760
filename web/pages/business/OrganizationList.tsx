import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { PageHead } from '../../components/frame/Frame.tsx'
import { RouteLink } from '../../components/frame/route.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../components/ui/Card.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { OwnInvitations } from './invitation/OwnInvitations.tsx'
import { uniqueBy } from './session/membership.ts'
import { routePath, type Navigate } from './routes.ts'
import { useBusinessMessages, usePeopleMessages } from './words.ts'

type Props = {
  organizations: OwnOrganization[]
  invitations: OwnInvitation[]
  goTo: Navigate
  onJoined: (organization: OwnOrganization) => void
  onDeclined: (invitation: OwnInvitation) => void
}

/** Lists the organizations of the user, and first the invitations that wait for them. */
export function OrganizationList({ organizations, invitations, goTo, onJoined, onDeclined }: Props) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const own = uniqueBy(organizations)
  const create = (
    <RouteLink
      class="button primary"
      href={routePath({ at: 'new' })}
      action="new-organization"
      onFollow={() => goTo({ at: 'new' })}
    >
      <Icon name="plus" size="sm" />
      {words.add}
    </RouteLink>
  )
  return (
    <>
      <PageHead title={words.title} lead={people.list.lead} actions={own.length > 0 ? create : undefined} />
      {invitations.length > 0 && (
        <OwnInvitations invitations={invitations} onJoined={onJoined} onDeclined={onDeclined} />
      )}
      {own.length === 0 ? (
        <Card>
          <Empty icon="building" title={words.noneTitle} level={2}>
            <p>{words.none}</p>
            {create}
          </Empty>
        </Card>
      ) : (
        <Card flush>
          <ul class="list">
            {own.map((organization) => (
              <Row key={organization.id} of={organization} goTo={goTo} />
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

function Row({ of: { id, name, logoUrl, role }, goTo }: { of: OwnOrganization; goTo: Navigate }) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const place = { at: 'organization', organizationId: id, section: 'overview' } as const
  return (
    <li>
      <Avatar kind="organization" name={name} picture={logoUrl} toneOf={id} />
      <div class="body">
        <RouteLink class="row-link" href={routePath(place)} onFollow={() => goTo(place)}>
          <strong>{name}</strong>
        </RouteLink>
        <small>{people.list.yourRole(words.roles[role])}</small>
      </div>
    </li>
  )
}
