import {
  type SettingKey,
  type SettingValue,
  type SettingValues,
  settingKeys,
  settingSchemas,
  SomeSettings,
} from '@countersign/protocol/operations/settings'
import { normalizeDomainPattern } from '@countersign/protocol/formats/registration/domain-list'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { accentOf } from '@countersign/protocol/formats/looks/accent'
import { Check } from 'typebox/schema'
import { defaultName, isServiceName, linkOf } from '#platform/config/brand.ts'
import { type Config, isLocal } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { parse } from '#platform/schema.ts'
import * as store from './store.ts'

type Origin = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

/** Returns the settings of a service before any change. */
export function defaultSettings({ baseUrl, authUrl, businessUrl }: Origin): SettingValues {
  return {
    'registration.mode': [baseUrl, authUrl, businessUrl].every(isLocal) ? 'open' : 'invited',
    'registration.domains': [],
    'branding.name': defaultName,
    'branding.logo': null,
    'branding.accent': null,
    'legal.terms': null,
    'legal.privacy': null,
    'legal.imprint': null,
    'legal.support': null,
    'audit.retentionDays': limits.retentionDaysDefault,
  }
}

/** Returns all settings: those of the environment, of the database, and the defaults. */
export function applySettings(config: Origin & Pick<Config, 'fixed'>, stored: SomeSettings): SettingValues {
  return { ...defaultSettings(config), ...stored, ...config.fixed }
}

/** A value as it is written and stored. */
type Written = NonNullable<SettingValue>

/** Parses the value of a setting as it is stored. Returns undefined if it is invalid. */
type Parse = (value: Written) => Written | undefined

const text =
  (parseText: (value: string) => string | undefined): Parse =>
  (value) =>
    typeof value === 'string' ? parseText(value) : undefined

const parsePage = text((url) => linkOf(url, ['https:']))

const parsers: Record<SettingKey, Parse> = {
  'registration.mode': text((mode) => mode),
  'registration.domains': (list) => (Array.isArray(list) ? parseDomains(list) : undefined),
  'branding.name': text((name) => (isServiceName(name) && isDisplayName(name) ? name : undefined)),
  'branding.logo': text((pictureId) => pictureId),
  'branding.accent': text((color) => accentOf(color)?.hex),
  'legal.terms': parsePage,
  'legal.privacy': parsePage,
  'legal.imprint': parsePage,
  'legal.support': text((url) => linkOf(url, ['https:', 'mailto:'])),
  'audit.retentionDays': (days) => days,
}

/** Normalizes a list of domains. The order means nothing, so that the same list is always stored in the same way. */
function parseDomains(list: string[]): string[] | undefined {
  const found = list.flatMap((each) => normalizeDomainPattern(each) ?? [])
  return found.length === list.length ? [...new Set(found)].toSorted() : undefined
}

const page = 'must be an https URL without user name and password, of at most 2,000 characters'

/** What a value must be, by key. */
const demands: Record<SettingKey, string> = {
  'registration.mode': 'must be open, domains, invited or closed',
  'registration.domains': 'must be at most 100 domains such as example.org, or *.example.org for those below it',
  'branding.name': 'must be 1 to 40 visible characters in one line',
  'branding.logo': 'must be a picture of the service',
  'branding.accent': 'must be a color such as #2841ae',
  'legal.terms': page,
  'legal.privacy': page,
  'legal.imprint': page,
  'legal.support': `${page}, or mailto: and an e-mail address`,
  'audit.retentionDays': 'must be a whole number from 30 to 3,650',
}

/** Returns the value of a setting as it is stored, or what is wrong with it. */
export function parseSetting(key: SettingKey, written: Written): { value: Written } | { objection: string } {
  const value = parsers[key](written)
  // A URL can become longer: every other character than those of ASCII is percent-encoded.
  const isValid = value !== undefined && Check(settingSchemas[key], value)
  return isValid ? { value } : { objection: `${key} ${demands[key]}.` }
}

/** The settings in the database, and the revision in which they were changed last. */
export type StoredSettings = { revision: number; stored: SomeSettings }

/** Reads the settings in the database, of the last revision or of another. Undefined if that one is not kept. */
export async function readStoredSettings(
  db: Database | Transaction,
  revision?: number,
): Promise<StoredSettings | undefined> {
  const row = await store.findRevision(db, revision)
  if (row) return { revision: row.revision, stored: parseStored(row.stored) }
  return revision === undefined || revision === 0 ? { revision: 0, stored: {} } : undefined
}

/** Parses stored settings. A key or value that this version does not know is ignored. */
export function parseStored(stored: unknown): SomeSettings {
  const values = new Map<string, unknown>(typeof stored === 'object' && stored !== null ? Object.entries(stored) : [])
  const known = settingKeys.filter((key) => Check(settingSchemas[key], values.get(key)))
  return parse(SomeSettings, Object.fromEntries(known.map((key) => [key, values.get(key)])))
}

/** Who may create an account, and the domains of addresses that can if it is `domains`. */
export type RegistrationRule = { mode: SettingValues['registration.mode']; domains: string[] }

/** Reads who may create an account, from the database: in a transaction, as it is at this moment. */
export async function readRegistrationRule(
  db: Database | Transaction,
  config: Origin & Pick<Config, 'fixed'>,
): Promise<RegistrationRule> {
  const found = await readStoredSettings(db)
  const values = applySettings(config, found?.stored ?? {})
  return { mode: values['registration.mode'], domains: values['registration.domains'] }
}

/** Returns what keeps a mode of registration from working: no listed domain, or no mail server for the codes. */
export function objectionToRegistration(
  values: Pick<SettingValues, 'registration.mode' | 'registration.domains'>,
  { mail }: Pick<Config, 'mail'>,
): string | undefined {
  if (values['registration.mode'] !== 'domains') return undefined
  if (values['registration.domains'].length === 0)
    return 'registration.mode domains requires a domain in registration.domains.'
  if (mail.by === 'nothing') return 'registration.mode domains requires SMTP_URL and MAIL_FROM: codes are mailed.'
  return undefined
}
