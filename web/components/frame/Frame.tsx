import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { languages, type Language } from '../../locales/words.ts'
import { readSite, startAddress } from '../../lib/view.ts'
import { Mark } from './Mark.tsx'
import { useSpeech } from './Root.tsx'

type Props = {
  title: string
  /** Which of its steps a page is at. Each has a foot of its own, where one for all would be pushed about. */
  step?: string
  wide?: boolean
  /** Whether people look here for the way to their organizations. */
  forOrganizations?: boolean
  /** Whether developers look here for the way to their own pages. */
  forDevelopers?: boolean
  /** The sheet alone, to stand in a page of somebody else. */
  bare?: boolean
  aside?: ComponentChildren
  children: ComponentChildren
}

/** What every page stands in: the letterhead, the sheet, the foot. */
export function Frame({ title, step, wide = false, bare = false, aside, children, ...ways }: Props) {
  useEffect(() => {
    document.title = `${title} · Countersign`
  }, [title])
  const { words } = useSpeech()
  if (bare) return <main class="sheet bare">{children}</main>
  return (
    <>
      <header class="letterhead">
        <a class="wordmark" href={startAddress()} aria-label={words.frame.home}>
          <Mark />
          Countersign
        </a>
        {aside}
      </header>
      <main class={wide ? 'sheet wide' : 'sheet'}>{children}</main>
      <footer key={step} class="foot">
        <Ways {...ways} />
        <Languages />
      </footer>
    </>
  )
}

/** The ways to other pages of ours, for those who have something to do there. */
function Ways({ forOrganizations, forDevelopers }: Pick<Props, 'forOrganizations' | 'forDevelopers'>) {
  const { words } = useSpeech()
  const { businessUrl, developers } = readSite()
  return (
    <>
      {forOrganizations && <a href={`${businessUrl}/organizations`}>{words.frame.organizations}</a>}
      {forDevelopers && developers && <a href="/developers">{words.frame.developers}</a>}
    </>
  )
}

function Languages() {
  const { language: spoken, speak, words } = useSpeech()
  const known = Object.entries(languages) as [Language, string][]
  return (
    <ul class="languages" aria-label={words.frame.language}>
      {known.map(([language, name]) => (
        <li key={language}>
          <button type="button" lang={language} aria-pressed={language === spoken} onClick={() => speak(language)}>
            {name}
          </button>
        </li>
      ))}
    </ul>
  )
}
