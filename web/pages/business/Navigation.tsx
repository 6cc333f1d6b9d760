import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useRef } from 'preact/hooks'
import { InPageLink } from '../../components/frame/InPageLink.tsx'
import { eachOnce } from './session/memberships.ts'
import { pathOf, type Destination, type GoTo, type Place } from './places.ts'
import { sectionsFor } from './sections.ts'
import { useBusinessWords } from './words.ts'

type Props = {
  place: Extract<Place, { at: 'organization' }>
  organization: OwnOrganization
  organizations: OwnOrganization[]
  goTo: GoTo
}

/** Which organization it is, the way to the others, and its sections. */
export function Navigation({ place, organization, organizations, goTo }: Props) {
  const words = useBusinessWords()
  return (
    <nav class="sections" aria-label={organization.name}>
      <Switcher current={organization} organizations={organizations} goTo={goTo} />
      <ul>
        {sectionsFor(organization.scopes).map((section) => {
          const there = { ...place, section }
          return (
            <li key={section}>
              <InPageLink href={pathOf(there)} current={section === place.section} onFollow={() => goTo(there)}>
                {words.sections[section]}
              </InPageLink>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

type SwitcherProps = { current: OwnOrganization; organizations: OwnOrganization[]; goTo: GoTo }

function Switcher({ current, organizations, goTo }: SwitcherProps) {
  const words = useBusinessWords()
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
  const others = eachOnce(organizations).filter(({ id }) => id !== current.id)
  return (
    <details class="switcher" ref={details}>
      <summary data-action="switch-organization">{current.name}</summary>
      <ul>
        {others.map(({ id, name }) => {
          const place = { at: 'organization', organizationId: id, section: 'members' } as const
          return (
            <li key={id}>
              <InPageLink href={pathOf(place)} onFollow={follow(place)}>
                {name}
              </InPageLink>
            </li>
          )
        })}
        <li>
          <InPageLink href={pathOf({ at: 'new' })} onFollow={follow({ at: 'new' })}>
            {words.add}
          </InPageLink>
        </li>
      </ul>
    </details>
  )
}
