import { deviceOf } from '@countersign/protocol/formats/registries/devices'
import { type Catalogue, type Language, languages, textsIn } from '@countersign/protocol/formats/registries/languages'
import type { VerifiedRegistration } from './attestation.ts'

/** Browser that registers a passkey, and the language of its user. */
export type RegisteringBrowser = { userAgent: string | undefined; language: Language }

type Names = {
  kinds: Record<VerifiedRegistration['kind'], string>
  on: (browser: string, system: string) => string
  since: (name: string, day: string) => string
}

const names: Catalogue<Names> = {
  en: {
    kinds: { 'security key': 'Security key', 'phone or tablet': 'Phone or tablet', unknown: 'Passkey' },
    on: (browser, system) => `${browser} on ${system}`,
    since: (name, day) => `${name}, ${day}`,
  },
  de: {
    kinds: { 'security key': 'Sicherheitsschlüssel', 'phone or tablet': 'Handy oder Tablet', unknown: 'Passkey' },
    on: (browser, system) => `${browser} unter ${system}`,
    since: (name, day) => `${name}, ${day}`,
  },
}

/**
 * Returns the first name of a passkey, which its owner can change: that of the product that keeps it, otherwise where
 * and on which day (UTC) it was created.
 */
export function passkeyName(
  { product, kind }: Pick<VerifiedRegistration, 'product' | 'kind'>,
  { userAgent, language }: RegisteringBrowser,
  now: Date,
): string {
  if (product !== undefined) return product
  const { kinds, on, since } = textsIn(names, language)
  const { browser, system } = deviceOf(userAgent ?? '')
  const device = browser && system ? on(browser, system) : (browser ?? system)
  const { locale } = languages[language]
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(now)
  return since(kind === 'unknown' ? (device ?? kinds.unknown) : kinds[kind], day)
}
