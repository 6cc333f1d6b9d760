import { remember, remembered } from './remembering.ts'
import type { Language } from '../locales/words.ts'

const key = 'language'

/** The language that the person chose here before. */
export function rememberedLanguage(): string | null {
  return remembered(key)
}

export function rememberLanguage(language: Language): void {
  remember(key, language)
}
