import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentChildren } from 'preact'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useSignOut } from '../../components/form/use-sign-out.ts'
import { Shell, type ShellSection } from '../../components/frame/Shell.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Menu } from '../../components/ui/Menu.tsx'
import { routePath, type BusinessRoute, type Navigate } from './routes.ts'
import { accessSections, sectionIcons, visibleSections } from './sections.ts'
import { uniqueBy } from './session/membership.ts'
import { useConsoleMessages } from './console-words.ts'

type Props = {
  place: BusinessRoute
  /** The organization of the current view, if any. */
  organization: OwnOrganization | undefined
  organizations: OwnOrganization[]
  identities: Identity[]
  goTo: Navigate
  children: ComponentChildren
}

/** The frame of all pages of organizations: switcher, sections, and the current one. */
export function Console({ place, organization, organizations, identities, goTo, children }: Props) {
  const words = useConsoleMessages()
  const signingOut = useSignOut()
  const user = identities.find(({ identityId }) => identityId === organization?.identityId) ?? identities[0]
  return (
    <Shell
      area="organizations"
      title={organization?.name ?? words.title}
      part={organization && place.at === 'organization' ? words.sections[place.section] : undefined}
      sections={organization ? sectionsOf(organization, place, goTo, words) : listSections(place, goTo, words)}
      user={user}
      onSignOut={signingOut.leave}
      context={<Switcher current={organization} organizations={organizations} goTo={goTo} />}
      width="full"
    >
      <ErrorMessage of={signingOut.problem} />
      {children}
    </Shell>
  )
}

type Words = ReturnType<typeof useConsoleMessages>

function sectionsOf({ id, scopes }: OwnOrganization, place: BusinessRoute, goTo: Navigate, words: Words) {
  const visible = visibleSections(scopes)
  const firstOfAccess = visible.find((section) => accessSections.includes(section))
  return visible.map((section): ShellSection => {
    const there = { at: 'organization', organizationId: id, section } as const
    return {
      href: routePath(there),
      icon: sectionIcons[section],
      label: words.sections[section],
      current: place.at === 'organization' && place.section === section,
      onFollow: () => goTo(there),
      ...(section === firstOfAccess && { group: words.access }),
    }
  })
}

function listSections(place: BusinessRoute, goTo: Navigate, words: Words): ShellSection[] {
  const to = (at: 'list' | 'new', label: string, icon: 'building' | 'plus'): ShellSection => ({
    href: routePath({ at }),
    icon,
    label,
    current: place.at === at,
    onFollow: () => goTo({ at }),
  })
  return [to('list', words.title, 'building'), to('new', words.add, 'plus')]
}

type SwitcherProps = { current: OwnOrganization | undefined; organizations: OwnOrganization[]; goTo: Navigate }

function Switcher({ current, organizations, goTo }: SwitcherProps) {
  const words = useConsoleMessages()
  const avatarOf = ({ id, name, logoUrl }: OwnOrganization, size: 'xs' | 'sm') => (
    <Avatar kind="organization" name={name} picture={logoUrl} toneOf={id} size={size} />
  )
  const items = uniqueBy(organizations).map((organization) => {
    const there = { at: 'organization', organizationId: organization.id, section: 'overview' } as const
    return {
      label: (
        <span class="row">
          {avatarOf(organization, 'xs')}
          {organization.name}
        </span>
      ),
      pressed: organization.id === current?.id,
      onChoose: () => goTo(there),
    }
  })
  return (
    <Menu
      // New with another organization, because otherwise its parts would move.
      key={current?.id}
      label={current ? words.switchFrom(current.name, words.roles[current.role]) : `${words.title}: ${words.switchTo}`}
      look="context"
      action="switch-organization"
      trigger={
        <>
          {current ? (
            <Person
              avatar={avatarOf(current, 'sm')}
              // The space separates the lines in the accessible name.
              name={`${current.name} `}
              detail={words.youAre(words.roles[current.role])}
            />
          ) : (
            <Person
              avatar={
                <span class="glyph sm">
                  <Icon name="building" size="sm" />
                </span>
              }
              name={words.title}
              // The room of the role: the sections below stay in place when it is known.
              detail={'\u00a0'}
            />
          )}
          <Icon name="chevrons-up-down" size="sm" />
        </>
      }
      items={[
        ...items,
        ...(items.length > 0 ? (['divider'] as const) : []),
        { label: words.add, icon: 'plus', onChoose: () => goTo({ at: 'new' }) },
      ]}
    />
  )
}
