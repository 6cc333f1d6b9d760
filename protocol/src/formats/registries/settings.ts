import type { Permission } from './permissions.ts'

/** Variable that can fix a setting, and the permission that its change requires besides `settings.manage`. */
type SettingRule = { environment?: string; permission?: Permission }

/** The settings that operators can change while the service runs. */
export const settingRules = {
  'registration.mode': { environment: 'REGISTRATION', permission: 'operators.manage' },
  'registration.domains': { environment: 'REGISTRATION_DOMAINS', permission: 'operators.manage' },
  'branding.name': { environment: 'BRAND_NAME' },
  'branding.logo': { environment: 'BRAND_LOGO' },
  'branding.accent': { environment: 'BRAND_ACCENT' },
  'legal.terms': { environment: 'TERMS_URL' },
  'legal.privacy': { environment: 'PRIVACY_URL' },
  'legal.imprint': { environment: 'IMPRINT_URL' },
  'legal.support': { environment: 'SUPPORT_URL' },
  'audit.retentionDays': { permission: 'operators.manage' },
} as const satisfies Record<string, SettingRule>

type Rules = typeof settingRules

/** Key of a setting that the environment can fix. */
export type FixableKey = { [Key in keyof Rules]: Rules[Key] extends { environment: string } ? Key : never }[keyof Rules]

export function isFixable(key: keyof Rules): key is FixableKey {
  return 'environment' in settingRules[key]
}
