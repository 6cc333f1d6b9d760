import { useWords } from '../ui/Root.tsx'
import { pathOf, sections, type Section } from './sections.ts'

type Props = { current: Section; onChoose: (section: Section) => void }

export function Navigation({ current, onChoose }: Props) {
  const words = useWords().account
  const choose = (section: Section) => (event: MouseEvent) => {
    // A new tab or window is the browser's business.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    onChoose(section)
  }
  return (
    <nav class="sections" aria-label={words.sections}>
      <ul>
        {sections.map((section) => (
          <li key={section}>
            <a href={pathOf(section)} aria-current={section === current ? 'page' : undefined} onClick={choose(section)}>
              {words[section]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
