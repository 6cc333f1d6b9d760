import { settingRules } from '@countersign/protocol/formats/registries/settings'
import { type SettingKey, settingKeys, settingSchemas, SomeSettings } from '@countersign/protocol/operations/settings'
import { Value } from 'typebox/value'
import { ConfigError } from '#platform/config-error.ts'
import type { BrandSetting } from './brand.ts'

type Given = (name: (typeof settingRules)[SettingKey]['environment']) => string | undefined

/** Parses the settings that the environment fixes, although operators could change them. Throws `ConfigError`. */
export function readFixedSettings(given: Given, { name, logo, accent, links }: BrandSetting): SomeSettings {
  const parsed: Record<SettingKey, string | undefined> = {
    'registration.mode': given('REGISTRATION'),
    'branding.name': name,
    'branding.logo': logo?.pictureId,
    'branding.accent': accent?.hex,
    'legal.terms': links.terms,
    'legal.privacy': links.privacy,
    'legal.imprint': links.imprint,
    'legal.support': links.support,
  }
  const fixed: Record<string, string | undefined> = {}
  for (const key of settingKeys) {
    const { environment } = settingRules[key]
    if (given(environment) === undefined) continue
    if (!Value.Check(settingSchemas[key], parsed[key])) throw new ConfigError(`${environment} ${objections[key]}.`)
    fixed[key] = parsed[key]
  }
  return Value.Parse(SomeSettings, fixed)
}

const tooLong = 'must have at most 2,000 characters'
const objections: Record<SettingKey, string> = {
  'registration.mode': 'must be one of open, invited, closed',
  'branding.name': 'must have at most 40 characters',
  'branding.logo': 'must be a picture',
  'branding.accent': 'must be a color such as #2841ae',
  'legal.terms': tooLong,
  'legal.privacy': tooLong,
  'legal.imprint': tooLong,
  'legal.support': tooLong,
}
