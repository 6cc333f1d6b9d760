import type { Language } from '@countersign/protocol/formats/registries/languages'

type TwoForms = { one: string; other: string }

/** Forms of a text that go with numbers, in the categories of each language (CLDR). */
type PluralForms = {
  en: TwoForms
  de: TwoForms
  /** `two` is a dual, `few` goes with 3 to 10, `many` with 11 to 99, `other` with the rest and with 0. */
  ar: { one: string; two: string; few: string; many: string; other: string }
}

const rules = new Map<Language, Intl.PluralRules>()

/** Picks the form of a text that goes with a number. */
export function plural<Tag extends Language>(language: Tag, count: number, forms: PluralForms[Tag]): string {
  const rule = rules.get(language) ?? new Intl.PluralRules(language)
  rules.set(language, rule)
  const known: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string } = forms
  return known[rule.select(count)] ?? known.other
}
