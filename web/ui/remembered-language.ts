import type { Language } from '../words.ts'

const key = 'language'

/** The language that the person chose here before. */
export function rememberedLanguage(): string | null {
  return ifAllowed(() => localStorage.getItem(key))
}

export function rememberLanguage(language: Language): void {
  ifAllowed(() => localStorage.setItem(key, language))
}

/** A browser that forbids storage throws where it is only looked at; a page in its own language is no loss. */
function ifAllowed<T>(use: () => T): T | null {
  try {
    return use()
  } catch {
    return null
  }
}
