import { createContext, render, type ComponentChildren, type ComponentType } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { loadWords, preferredLanguage, type Language, type Words } from '../../locales/words.ts'
import { wantedLanguages } from '../../lib/view.ts'
import { rememberedLanguage, rememberLanguage } from '../../lib/remembered-language.ts'
import '../theme.css'
import './frame.css'
import '../form/form.css'
import './ui.css'

type Speech = { language: Language; words: Words; speak: (language: Language) => void }

const Spoken = createContext<Speech | undefined>(undefined)

/** Draws a page into the shell, in the person's language. */
export async function drawPage(Page: ComponentType): Promise<void> {
  const root = document.getElementById('page')
  if (!root) throw new Error('The shell has no place for the page')
  const language = preferredLanguage(rememberedLanguage(), [...wantedLanguages(), ...navigator.languages])
  const first = await loadWords(language).then(
    (words) => ({ language, words }),
    // English came with the page, and a page in English is better than none.
    async () => ({ language: 'en' as const, words: await loadWords('en') }),
  )
  render(
    <Root first={first}>
      <Page />
    </Root>,
    root,
  )
}

function Root({ first, children }: { first: Pick<Speech, 'language' | 'words'>; children: ComponentChildren }) {
  const [spoken, setSpoken] = useState(first)
  useEffect(() => {
    document.documentElement.lang = spoken.language
  }, [spoken.language])
  const speak = (language: Language) => {
    rememberLanguage(language)
    void loadWords(language).then((words) => setSpoken({ language, words }), reportError)
  }
  return <Spoken.Provider value={{ ...spoken, speak }}>{children}</Spoken.Provider>
}

type SayingProps = { refused: Partial<Record<string, string>>; children: ComponentChildren }

/** Has what is drawn within also say what only it may be refused. */
export function Saying({ refused, children }: SayingProps) {
  const speech = useSpeech()
  const { problem } = speech.words
  const words = { ...speech.words, problem: { ...problem, refused: { ...problem.refused, ...refused } } }
  return <Spoken.Provider value={{ ...speech, words }}>{children}</Spoken.Provider>
}

export function useSpeech(): Speech {
  const speech = useContext(Spoken)
  if (!speech) throw new Error('Drawn outside of a page')
  return speech
}

export function useWords(): Words {
  return useSpeech().words
}
