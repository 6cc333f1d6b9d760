import { InPageLink } from '../ui/InPageLink.tsx'
import { useWords } from '../ui/Root.tsx'
import { pathOf, sections, type Section } from './sections.ts'

type Props = { current: Section; waiting: number; onChoose: (section: Section) => void }

/** The sections; beside signing, how many requests wait. */
export function Navigation({ current, waiting, onChoose }: Props) {
  const words = useWords().account
  return (
    <nav class="sections" aria-label={words.sections}>
      <ul>
        {sections.map((section) => (
          <li key={section}>
            <InPageLink href={pathOf(section)} current={section === current} onFollow={() => onChoose(section)}>
              {words[section]}
              {section === 'signing' && waiting > 0 && <span class="count">{waiting}</span>}
            </InPageLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}
