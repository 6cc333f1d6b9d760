import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { InPageLink } from '../../components/frame/InPageLink.tsx'
import { Monogram } from '../../components/display/Monogram.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { eachOnce } from './session/memberships.ts'
import { pathOf, type GoTo } from './places.ts'
import { useBusinessWords } from './words.ts'

type Props = { organizations: OwnOrganization[]; goTo: GoTo }

export function OrganizationList({ organizations, goTo }: Props) {
  const words = useBusinessWords()
  return (
    <section class="step">
      <StepHeading>{words.title}</StepHeading>
      {organizations.length === 0 && <p class="lead">{words.none}</p>}
      <ul class="entries">
        {eachOnce(organizations).map(({ id, name, role }) => {
          const place = { at: 'organization', organizationId: id, section: 'members' } as const
          return (
            <li key={id} class="entry with-monogram">
              <Monogram name={name} />
              <div>
                <h2>
                  <InPageLink class="entry-link" href={pathOf(place)} onFollow={() => goTo(place)}>
                    {name}
                  </InPageLink>
                </h2>
                <p>{words.roles[role]}</p>
              </div>
            </li>
          )
        })}
      </ul>
      <p>
        <InPageLink
          class={organizations.length === 0 ? 'button primary' : 'button secondary'}
          action="new-organization"
          href={pathOf({ at: 'new' })}
          onFollow={() => goTo({ at: 'new' })}
        >
          {words.add}
        </InPageLink>
      </p>
    </section>
  )
}
