import { normalizeDomainPattern } from '@countersign/protocol/formats/registration/domain-list'
import { type FixableKey, isFixable, settingRules } from '@countersign/protocol/formats/registries/settings'
import { settingKeys, settingSchemas, type SettingValue, SomeSettings } from '@countersign/protocol/operations/settings'
import { Check } from 'typebox/schema'
import { ConfigError } from '#platform/config-error.ts'
import { parse } from '#platform/schema.ts'
import type { BrandSetting } from './brand.ts'

type Given = (name: (typeof settingRules)[FixableKey]['environment']) => string | undefined

/** Values of other parts of the configuration. */
type Parts = { brand: BrandSetting; sendsMail: boolean }

/** Parses the settings that the environment fixes, although operators could change them. Throws `ConfigError`. */
export function readFixedSettings(given: Given, { brand, sendsMail }: Parts): SomeSettings {
  const { name, logo, accent, links } = brand
  const parsed: Record<FixableKey, SettingValue | undefined> = {
    'registration.mode': given('REGISTRATION'),
    'registration.domains': readDomains(given('REGISTRATION_DOMAINS')),
    'branding.name': name,
    'branding.logo': logo?.pictureId,
    'branding.accent': accent?.hex,
    'legal.terms': links.terms,
    'legal.privacy': links.privacy,
    'legal.imprint': links.imprint,
    'legal.support': links.support,
  }
  const found: Record<string, SettingValue | undefined> = {}
  for (const key of settingKeys.filter(isFixable)) {
    const { environment } = settingRules[key]
    if (given(environment) === undefined) continue
    if (!Check(settingSchemas[key], parsed[key])) throw new ConfigError(`${environment} ${objections[key]}.`)
    found[key] = parsed[key]
  }
  const fixed = parse(SomeSettings, found)
  if (fixed['registration.mode'] === 'domains') requireDomains(fixed, sendsMail)
  return fixed
}

function readDomains(written: string | undefined): string[] | undefined {
  const domains = written?.split(',').map((each) => {
    const domain = normalizeDomainPattern(each.trim())
    if (domain !== undefined) return domain
    throw new ConfigError('REGISTRATION_DOMAINS must be domains such as example.org or *.example.org, comma-separated.')
  })
  return domains && [...new Set(domains)].toSorted()
}

/** Throws `ConfigError` if no one could register. The database has no list that the environment relies on. */
function requireDomains({ 'registration.domains': domains = [] }: SomeSettings, sendsMail: boolean): void {
  if (domains.length === 0)
    throw new ConfigError(
      'REGISTRATION_DOMAINS is missing, which REGISTRATION=domains requires. Set it to example.org.',
    )
  if (!sendsMail) throw new ConfigError('SMTP_URL is missing, which REGISTRATION=domains requires: codes are mailed.')
}

const tooLong = 'must have at most 2,000 characters'
const objections: Record<FixableKey, string> = {
  'registration.mode': 'must be one of open, domains, invited, closed',
  'registration.domains': 'must have at most 100 domains',
  'branding.name': 'must have at most 40 characters',
  'branding.logo': 'must be a picture',
  'branding.accent': 'must be a color such as #2841ae',
  'legal.terms': tooLong,
  'legal.privacy': tooLong,
  'legal.imprint': tooLong,
  'legal.support': tooLong,
}
