import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { languageTags, languages } from '@countersign/protocol/formats/registries/languages'
import { homeUrl, readSiteSettings } from '../../lib/page-data.ts'
import { chooseTheme, rememberedTheme, themes, type Theme } from '../../lib/theme.ts'
import { Icon } from '../ui/Icon.tsx'
import { Menu } from '../ui/Menu.tsx'
import { Filter } from '../ui/Table.tsx'
import { Segmented } from '../ui/Tabs.tsx'
import { useLocale, useMessages } from './Root.tsx'

/** The mark: a letter signed on a line. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
      <path class="mark-line" d="M3 27.5H29" />
      <path
        class="mark-letter"
        d="M22.5 9.5C21.5 5.500 16 4 12 8 7.500 12.500 8 22 14.500 22.500 20 23 24 17.500 28.500 16"
      />
    </svg>
  )
}

type Props = {
  /** URL that the name of the service links to. */
  home?: string
  /** Links to the areas of the service. */
  areas?: ComponentChildren
  /** Stands at the end of the line. */
  end?: ComponentChildren
}

/** Moves the focus past the letterhead. The address stays as it is, because its fragment may be a secret. */
function skip(event: Event) {
  event.preventDefault()
  const main = document.querySelector('main')
  if (!main) return
  main.tabIndex = -1
  main.focus()
}

/** The first line of every page: whose service this is, and where it leads. */
export function Letterhead({ home = homeUrl(), areas, end }: Props) {
  const { frame: words } = useMessages()
  const { brand } = readSiteSettings()
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {words.skip}
      </a>
      <header class="letterhead">
        <div class="inner">
          <a class="wordmark" href={home} aria-label={words.homeOf(brand.name)}>
            {brand.logoUrl === undefined ? <Mark /> : <img class="mark" src={brand.logoUrl} alt="" />}
            {brand.name}
          </a>
          {areas}
          <div class="end">{end}</div>
        </div>
      </header>
    </>
  )
}

/** The last line of a page: help, the links of the operator, and the language. */
export function Foot() {
  const { frame: words } = useMessages()
  const { authUrl, brand } = readSiteSettings()
  const { terms, privacy, imprint, support, status } = brand.links
  const links = [
    { href: `${authUrl}/help`, label: words.help },
    { href: terms, label: words.terms },
    { href: privacy, label: words.privacy },
    { href: imprint, label: words.imprint },
    { href: support, label: words.support },
    { href: status, label: words.status },
  ]
  return (
    <footer class="foot">
      <div class="inner">
        {links.map(({ href, label }) =>
          href === undefined ? null : (
            <a key={label} href={href}>
              {label}
            </a>
          ),
        )}
        <LanguageMenu />
      </div>
    </footer>
  )
}

function LanguageMenu() {
  const { language, speak, words } = useLocale()
  return (
    <span class="push">
      <Menu
        label={words.frame.languageIs(languages[language].ownName)}
        look="plain"
        action="language"
        trigger={
          <>
            <Icon name="languages" size="sm" />
            {languages[language].ownName}
            <Icon name="chevron-down" size="sm" />
          </>
        }
        items={languageTags.map((tag) => ({
          label: languages[tag].ownName,
          lang: tag,
          pressed: tag === language,
          onChoose: () => speak(tag),
        }))}
      />
    </span>
  )
}

/** The language and the theme of the pages in this browser. */
export function Preferences() {
  const { language, speak, words } = useLocale()
  const [theme, setTheme] = useState<Theme>(rememberedTheme)
  const change = (chosen: Theme) => {
    chooseTheme(chosen)
    setTheme(chosen)
  }
  return (
    <div class="menu-preferences">
      <Segmented
        label={words.frame.theme}
        action="theme"
        of={themes.map((value) => ({ value, label: words.frame.themes[value] }))}
        chosen={theme}
        onChoose={change}
      />
      <Filter
        label={words.frame.language}
        of={languageTags.map((tag) => ({ value: tag, label: languages[tag].ownName }))}
        chosen={language}
        onChoose={speak}
      />
    </div>
  )
}
