import {
  type Catalogue,
  type Language,
  fallbackLanguage,
  matchLanguageTags,
  textsIn,
} from '@countersign/protocol/formats/registries/languages'
import { en } from './en/messages.ts'

export type Messages = typeof en

/** Only the English messages are part of the page script. */
const loaders: Catalogue<() => Promise<Messages>> = {
  en: async () => en,
  de: async () => (await import('./de/messages.ts')).de,
  ar: async () => (await import('./ar/messages.ts')).ar,
}

/** Loads the messages that all pages share. */
export function loadMessages(language: Language): Promise<Messages> {
  return textsIn(loaders, language)()
}

/** Returns the language that the user chose, else the first supported one that the browser asks for, else English. */
export function matchLanguage(chosen: string | null, requested: readonly string[]): Language {
  return matchLanguageTags([chosen ?? '', ...requested]) ?? fallbackLanguage
}
