type LanguageParameters = {
  /** Name of the language in itself. */
  ownName: string
  dir: 'ltr' | 'rtl'
  /** Locale of dates in mails (BCP 47). */
  locale: string
  /** For a language that is being translated: where a text is missing, the English one is shown. */
  borrows?: 'en'
}

/**
 * The languages of pages, mails and the button, by their tag (RFC 5646 §2.2.1). The language picker, `ui_locales` and
 * the provider metadata are derived from these rows. A row without `borrows` compiles only when every catalogue has it.
 */
export const languages = {
  en: { ownName: 'English', dir: 'ltr', locale: 'en-GB' },
  de: { ownName: 'Deutsch', dir: 'ltr', locale: 'de-DE' },
  ar: { ownName: 'العربية', dir: 'rtl', locale: 'ar' },
} as const satisfies Record<string, LanguageParameters>

export type Language = keyof typeof languages

/** Language in which texts are shown if no other fits. Every catalogue has it. */
export const fallbackLanguage = 'en' as const satisfies Language

type Translated = { [Tag in Language]: (typeof languages)[Tag] extends { borrows: string } ? never : Tag }[Language]
type Borrowed = { borrowed: typeof fallbackLanguage }

/**
 * Texts in each language. A language that is missing does not compile, unless its row says that it borrows; a single
 * catalogue can borrow too, with `{ borrowed: 'en' }`.
 */
export type Catalogue<Texts> = { readonly en: Texts } & {
  readonly [Tag in Exclude<Translated, 'en'>]: Texts | Borrowed
} & { readonly [Tag in Exclude<Language, Translated>]?: Texts }

/** Returns the texts of a catalogue in a language, or those that it borrows. */
export function textsIn<Texts extends object>(catalogue: Catalogue<Texts>, language: Language): Texts {
  const found: Texts | Borrowed | undefined = catalogue[language]
  return found === undefined || isBorrowed(found) ? catalogue[fallbackLanguage] : found
}

function isBorrowed(entry: object): entry is Borrowed {
  return 'borrowed' in entry
}

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text)
}

export const languageTags: readonly Language[] = Object.keys(languages).filter(isLanguage)

/** Returns the language of the first tag that names a supported one, in any region and case. */
export function matchLanguageTags(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLanguage)
}

/**
 * Isolates a value from the direction of the sentence around it (Unicode UAX #9, FSI and PDI): a username, host, code
 * or name keeps its own order, and the words around it keep theirs.
 */
export function isolate(value: string): string {
  return `\u2068${value}\u2069`
}
