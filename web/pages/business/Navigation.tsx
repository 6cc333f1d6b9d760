import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useRef } from 'preact/hooks'
import { RouteLink } from '../../components/frame/route.tsx'
import { uniqueBy } from './session/membership.ts'
import { routePath, type Destination, type Navigate, type BusinessRoute } from './routes.ts'
import { visibleSections } from './sections.ts'
import { useBusinessMessages } from './words.ts'

type Props = {
  place: Extract<BusinessRoute, { at: 'organization' }>
  organization: OwnOrganization
  organizations: OwnOrganization[]
  goTo: Navigate
}

/** Shows the current organization, a link to the other ones, and its sections. */
export function Navigation({ place, organization, organizations, goTo }: Props) {
  const words = useBusinessMessages()
  return (
    <nav class="sections" aria-label={organization.name}>
      <Switcher current={organization} organizations={organizations} goTo={goTo} />
      <ul>
        {visibleSections(organization.scopes).map((section) => {
          const there = { ...place, section }
          return (
            <li key={section}>
              <RouteLink href={routePath(there)} current={section === place.section} onFollow={() => goTo(there)}>
                {words.sections[section]}
              </RouteLink>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

type SwitcherProps = { current: OwnOrganization; organizations: OwnOrganization[]; goTo: Navigate }

function Switcher({ current, organizations, goTo }: SwitcherProps) {
  const words = useBusinessMessages()
  const details = useRef<HTMLDetailsElement>(null)
  const close = () => details.current?.removeAttribute('open')
  const follow = (place: Destination) => () => {
    close()
    goTo(place)
  }
  useEffect(() => {
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return
      close()
      details.current?.querySelector('summary')?.focus()
    }
    details.current?.addEventListener('keydown', closeByKey)
  }, [])
  const others = uniqueBy(organizations).filter(({ id }) => id !== current.id)
  return (
    <details class="switcher" ref={details}>
      <summary data-action="switch-organization">{current.name}</summary>
      <ul>
        {others.map(({ id, name }) => {
          const place = { at: 'organization', organizationId: id, section: 'members' } as const
          return (
            <li key={id}>
              <RouteLink href={routePath(place)} onFollow={follow(place)}>
                {name}
              </RouteLink>
            </li>
          )
        })}
        <li>
          <RouteLink href={routePath({ at: 'new' })} onFollow={follow({ at: 'new' })}>
            {words.add}
          </RouteLink>
        </li>
      </ul>
    </details>
  )
}
