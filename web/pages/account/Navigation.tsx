import { InPageLink } from '../../components/frame/InPageLink.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { pathOf, sections, type Section } from './sections.ts'

type Props = { current: Section; waiting: Partial<Record<Section, number>>; onChoose: (section: Section) => void }

/** The sections; beside each, how much waits there for the person. */
export function Navigation({ current, waiting, onChoose }: Props) {
  const words = useWords().account
  return (
    <nav class="sections" aria-label={words.sections}>
      <ul>
        {sections.map((section) => (
          <li key={section}>
            <InPageLink href={pathOf(section)} current={section === current} onFollow={() => onChoose(section)}>
              {words[section]}
              {(waiting[section] ?? 0) > 0 && <span class="count">{waiting[section]}</span>}
            </InPageLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}
