import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { languageTags, languages } from '@countersign/protocol/formats/registries/languages'
import { homeUrl, readSiteSettings } from '../../lib/page-data.ts'
import { useLocale } from './Root.tsx'

/** The logo: a letter signed on a line. */
function Logo() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
      <path class="mark-line" d="M3 27.5H29" />
      <path
        class="mark-letter"
        d="M22.5 9.5C21.5 5.5 16 4 12 8 7.500 12.500 8 22 14.500 22.500 20 23 24 17.500 28.500 16"
      />
    </svg>
  )
}

type Props = {
  title: string
  /** The current step of the page. Each step has its own footer, because a shared one would move. */
  step?: string
  wide?: boolean
  /** Shows the link to the user's organizations. */
  forOrganizations?: boolean
  /** Shows the link to the developer pages. */
  forDevelopers?: boolean
  /** Shows the sheet alone, for a page in the frame of an app. */
  bare?: boolean
  aside?: ComponentChildren
  children: ComponentChildren
}

/** Lays out every page: the header, the sheet, the footer. */
export function PageLayout({ title, step, wide = false, bare = false, aside, children, ...ways }: Props) {
  useEffect(() => {
    document.title = `${title} · Countersign`
  }, [title])
  const { words } = useLocale()
  if (bare) return <main class="sheet bare">{children}</main>
  return (
    <>
      <header class="letterhead">
        <a class="wordmark" href={homeUrl()} aria-label={words.frame.home}>
          <Logo />
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

/** Links to other pages, for the users who need them. */
function Ways({ forOrganizations, forDevelopers }: Pick<Props, 'forOrganizations' | 'forDevelopers'>) {
  const { words } = useLocale()
  const { businessUrl, developers } = readSiteSettings()
  return (
    <>
      {forOrganizations && <a href={`${businessUrl}/organizations`}>{words.frame.organizations}</a>}
      {forDevelopers && developers && <a href="/developers">{words.frame.developers}</a>}
    </>
  )
}

function Languages() {
  const { language: spoken, speak, words } = useLocale()
  return (
    <ul class="languages" aria-label={words.frame.language}>
      {languageTags.map((language) => (
        <li key={language}>
          <button type="button" lang={language} aria-pressed={language === spoken} onClick={() => speak(language)}>
            {languages[language].ownName}
          </button>
        </li>
      ))}
    </ul>
  )
}

/**
 * The heading of a step that replaced another step. It takes the focus, so that screen readers announce the new step.
 */
export function StepHeading({ children, level = 1 }: { children: ComponentChildren; level?: 1 | 2 | 3 }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const Heading = (['h1', 'h2', 'h3'] as const)[level - 1] ?? 'h1'
  return (
    <Heading ref={heading} tabIndex={-1}>
      {children}
    </Heading>
  )
}
