import { createContext, render, type ComponentChildren, type ComponentType } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import {
  type Catalogue,
  type Language,
  fallbackLanguage,
  languages,
} from '@countersign/protocol/formats/registries/languages'
import { LateTexts, loadLateTexts } from '../../locales/late-texts.ts'
import { loadMessages, matchLanguage, type Messages } from '../../locales/messages.ts'
import { requestedLanguages } from '../../lib/page-data.ts'
import { rememberedLanguage, rememberLanguage } from '../../lib/remembered.ts'
import { applyTheme, rememberedTheme } from '../../lib/theme.ts'
import '../styles.css'

type LocaleContext = { language: Language; words: Messages; speak: (language: Language) => void }

const Spoken = createContext<LocaleContext | undefined>(undefined)

/** Renders a page into the shell, in the language of the user. */
export async function renderPage(Page: ComponentType): Promise<void> {
  const root = document.getElementById('page')
  if (!root) throw new Error('The shell has no place for the page')
  await renderInto(root, Page)
}

/** Renders a part beside the page, or the page itself, in the language of the user. Returns what takes it away. */
export async function renderInto(root: Element, Page: ComponentType): Promise<() => void> {
  applyTheme(rememberedTheme())
  const language = matchLanguage(rememberedLanguage(), [...requestedLanguages(), ...navigator.languages])
  // English is part of the page's own script, and a page in English is better than no page.
  const first = await loadWords(language).catch(() => loadWords(fallbackLanguage))
  declareLanguage(first.language)
  render(
    <Root first={first}>
      <Page />
    </Root>,
    root,
  )
  return () => render(null, root)
}

async function loadWords(language: Language): Promise<Pick<LocaleContext, 'language' | 'words'>> {
  const [words] = await Promise.all([loadMessages(language), loadLateTexts(language)])
  return { language, words }
}

/** Declares the language and direction of the page before it is drawn in them, so that nothing changes sides later. */
function declareLanguage(language: Language): void {
  document.documentElement.lang = language
  document.documentElement.dir = languages[language].dir
}

function Root({ first, children }: { first: Pick<LocaleContext, 'language' | 'words'>; children: ComponentChildren }) {
  const [spoken, setSpoken] = useState(first)
  const speak = (language: Language) => {
    rememberLanguage(language)
    const show = (loaded: Awaited<ReturnType<typeof loadWords>>) => {
      declareLanguage(loaded.language)
      setSpoken(loaded)
    }
    void loadWords(language).then(show, reportError)
  }
  return <Spoken.Provider value={{ ...spoken, speak }}>{children}</Spoken.Provider>
}

type SayingProps = { refused: Partial<Record<string, string>>; children: ComponentChildren }

/** Adds the error messages that only the enclosed part of a page can show. */
export function LocaleProvider({ refused, children }: SayingProps) {
  const speech = useLocale()
  const { problem } = speech.words
  const words = { ...speech.words, problem: { ...problem, refused: { ...problem.refused, ...refused } } }
  return <Spoken.Provider value={{ ...speech, words }}>{children}</Spoken.Provider>
}

export function useLocale(): LocaleContext {
  const speech = useContext(Spoken)
  if (!speech) throw new Error('Drawn outside of a page')
  return speech
}

export function useMessages(): Messages {
  return useLocale().words
}

/** Texts of a page in each language, of which some load only when their language is spoken. */
type PageCatalogue<Texts extends object> = {
  readonly [Tag in keyof Catalogue<Texts>]: Catalogue<Texts>[Tag] | LateTexts<Texts>
} & { readonly en: Texts }

/** Returns messages that only some pages load, in the language of the user. */
export function usePageMessages<PageMessages extends object>(catalogue: PageCatalogue<PageMessages>): PageMessages {
  const { language } = useLocale()
  const [, setLoaded] = useState<object>()
  const texts = catalogue[language]
  useEffect(() => {
    if (texts instanceof LateTexts && !texts.texts) void texts.load().then(() => setLoaded(texts), reportError)
  }, [texts])
  if (texts instanceof LateTexts) return texts.texts ?? catalogue[fallbackLanguage]
  return texts === undefined || 'borrowed' in texts ? catalogue[fallbackLanguage] : texts
}
