import type { Language } from '@countersign/protocol/formats/registries/languages'

/** Texts that load only when their language is spoken, so that pages in other languages do not carry them. */
export class LateTexts<Texts extends object> {
  texts: Texts | undefined
  readonly #read: () => Promise<Texts>

  constructor(read: () => Promise<Texts>) {
    this.#read = read
  }

  async load(): Promise<void> {
    this.texts ??= await this.#read()
  }
}

const declared = new Map<Language, LateTexts<object>[]>()
let spoken: Language | undefined

/** Declares the texts of a page, or of a part of it, in a language of which they load when it is spoken. */
export function lateTexts<Texts extends object>(language: Language, read: () => Promise<Texts>): LateTexts<Texts> {
  const late = new LateTexts(read)
  declared.set(language, [...(declared.get(language) ?? []), late])
  return late
}

/**
 * Loads the texts that are declared so far in the language that is spoken now, or in another one that is spoken from
 * now on. A part that loads later awaits this before it is shown.
 */
export async function loadLateTexts(language: Language | undefined = spoken): Promise<void> {
  spoken = language
  if (language === undefined) return
  await Promise.all((declared.get(language) ?? []).map((late) => late.load()))
}

/** Waits for a part of a page, and for the texts that it declares. Otherwise English is shown until they are loaded. */
export async function withLateTexts<Part>(loading: Promise<Part>): Promise<Part> {
  const part = await loading
  await loadLateTexts()
  return part
}
