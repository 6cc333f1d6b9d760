import { RouteLink } from '../../components/frame/route.tsx'
import { useMessages } from '../../components/frame/Root.tsx'

export const sections = ['identities', 'signing', 'passkeys', 'sessions', 'apps', 'activity', 'data'] as const
export type Section = (typeof sections)[number]

/** Returns the section of a path below `/account`, the first one by default. */
export function sectionOf(path: string): Section {
  const name = path.split('/')[2]
  return sections.find((section) => section === name) ?? 'identities'
}

export function routePath(section: Section): string {
  return `/account/${section}`
}

type Props = { current: Section; waiting: Partial<Record<Section, number>>; onChoose: (section: Section) => void }

/** Links to the sections, each with the number of items that wait there for the user. */
export function Navigation({ current, waiting, onChoose }: Props) {
  const words = useMessages().account
  return (
    <nav class="sections" aria-label={words.sections}>
      <ul>
        {sections.map((section) => (
          <li key={section}>
            <RouteLink href={routePath(section)} current={section === current} onFollow={() => onChoose(section)}>
              {words[section]}
              {(waiting[section] ?? 0) > 0 && <span class="count">{waiting[section]}</span>}
            </RouteLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}
