import { en } from './en.ts'

export type Words = typeof en

/** The languages of the pages, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

/** The words of a language; only English comes with the page itself. */
export async function loadWords(language: Language): Promise<Words> {
  if (language === 'en') return en
  return (await import('./de.ts')).de
}

/** The language that a person chose here before, else the first of the browser's that we speak, else English. */
export function preferredLanguage(chosen: string | null, wanted: readonly string[]): Language {
  return [chosen ?? '', ...wanted].map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLanguage) ?? 'en'
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text)
}
