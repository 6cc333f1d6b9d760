import { createContext, render, type ComponentChildren, type ComponentType } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import {
  type Catalogue,
  type Language,
  fallbackLanguage,
  languages,
  textsIn,
} from '@countersign/protocol/formats/registries/languages'
import { loadMessages, matchLanguage, type Messages } from '../../locales/messages.ts'
import { requestedLanguages } from '../../lib/page-data.ts'
import { rememberedLanguage, rememberLanguage } from '../../lib/remembered.ts'
import { applyTheme, rememberedTheme } from '../../lib/theme.ts'
import '../theme.css'
import '../legacy.css'
import './frame.css'
import '../ui/text.css'
import '../ui/buttons.css'
import '../ui/inputs.css'
import '../ui/identity.css'
import '../ui/cards.css'
import '../ui/tabs.css'
import '../ui/tables.css'
import '../ui/timeline.css'
import '../signature/signature.css'
import '../ui/exact.css'
import '../ui/overlays.css'
import '../ui/steps.css'
import '../charts/charts.css'
import '../ui/layout.css'
import '../ui/sheet.css'
import '../signature/certificate.css'

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
  const first = await loadMessages(language).then(
    (words) => ({ language, words }),
    // English is part of the page's own script, and a page in English is better than no page.
    async () => ({ language: fallbackLanguage, words: await loadMessages(fallbackLanguage) }),
  )
  render(
    <Root first={first}>
      <Page />
    </Root>,
    root,
  )
  return () => render(null, root)
}

function Root({ first, children }: { first: Pick<LocaleContext, 'language' | 'words'>; children: ComponentChildren }) {
  const [spoken, setSpoken] = useState(first)
  useEffect(() => {
    document.documentElement.lang = spoken.language
    document.documentElement.dir = languages[spoken.language].dir
  }, [spoken.language])
  const speak = (language: Language) => {
    rememberLanguage(language)
    void loadMessages(language).then((words) => setSpoken({ language, words }), reportError)
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

/** Returns messages that only some pages load, in the language of the user. */
export function usePageMessages<PageMessages extends object>(messages: Catalogue<PageMessages>): PageMessages {
  return textsIn(messages, useLocale().language)
}
