import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { RouteLink } from '../../components/frame/route.tsx'
import { Monogram } from '../../components/display/Monogram.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { uniqueBy } from './session/membership.ts'
import { routePath, type Navigate } from './routes.ts'
import { useBusinessMessages } from './words.ts'

type Props = { organizations: OwnOrganization[]; goTo: Navigate }

export function OrganizationList({ organizations, goTo }: Props) {
  const words = useBusinessMessages()
  return (
    <section class="step">
      <StepHeading>{words.title}</StepHeading>
      {organizations.length === 0 && <p class="lead">{words.none}</p>}
      <ul class="entries">
        {uniqueBy(organizations).map(({ id, name, role }) => {
          const place = { at: 'organization', organizationId: id, section: 'members' } as const
          return (
            <li key={id} class="entry with-monogram">
              <Monogram name={name} />
              <div>
                <h2>
                  <RouteLink class="entry-link" href={routePath(place)} onFollow={() => goTo(place)}>
                    {name}
                  </RouteLink>
                </h2>
                <p>{words.roles[role]}</p>
              </div>
            </li>
          )
        })}
      </ul>
      <p>
        <RouteLink
          class={organizations.length === 0 ? 'button primary' : 'button secondary'}
          action="new-organization"
          href={routePath({ at: 'new' })}
          onFollow={() => goTo({ at: 'new' })}
        >
          {words.add}
        </RouteLink>
      </p>
    </section>
  )
}
