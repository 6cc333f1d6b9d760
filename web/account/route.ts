import { useEffect, useState } from 'preact/hooks'
import { pathOf, sectionOf, type Section } from './sections.ts'

/** The section in the address bar, and the way to another, which the back button takes back. */
export function useSection(): [Section, (section: Section) => void] {
  const [section, setSection] = useState(() => sectionOf(location.pathname))
  useEffect(() => {
    const follow = () => setSection(sectionOf(location.pathname))
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const goTo = (next: Section) => {
    history.pushState(null, '', pathOf(next))
    setSection(next)
  }
  return [section, goTo]
}
