import type { Language } from '@countersign/protocol/formats/registries/languages'

const rules = new Map<Language, Intl.PluralRules>()

/** Picks the form of a text that goes with a number, in a language with these two forms. */
export function plural(language: Language, count: number, forms: { one: string; other: string }): string {
  const rule = rules.get(language) ?? new Intl.PluralRules(language)
  rules.set(language, rule)
  return rule.select(count) === 'one' ? forms.one : forms.other
}
