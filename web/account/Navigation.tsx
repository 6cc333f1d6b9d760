import { InPageLink } from '../ui/InPageLink.tsx'
import { useWords } from '../ui/Root.tsx'
import { pathOf, sections, type Section } from './sections.ts'

type Props = { current: Section; onChoose: (section: Section) => void }

export function Navigation({ current, onChoose }: Props) {
  const words = useWords().account
  return (
    <nav class="sections" aria-label={words.sections}>
      <ul>
        {sections.map((section) => (
          <li key={section}>
            <InPageLink href={pathOf(section)} current={section === current} onFollow={() => onChoose(section)}>
              {words[section]}
            </InPageLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}
