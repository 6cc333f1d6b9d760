import {
  type RegistrationMode,
  type SettingKey,
  type SettingValues,
  settingKeys,
  settingSchemas,
  SomeSettings,
} from '@countersign/protocol/operations/settings'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { accentOf } from '@countersign/protocol/formats/looks/accent'
import { Value } from 'typebox/value'
import { defaultName, isServiceName, linkOf } from '#platform/config/brand.ts'
import { type Config, isLocal } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

type Origin = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

/** Returns the settings of a service before any change. */
export function defaultSettings({ baseUrl, authUrl, businessUrl }: Origin): SettingValues {
  return {
    'registration.mode': [baseUrl, authUrl, businessUrl].every(isLocal) ? 'open' : 'invited',
    'branding.name': defaultName,
    'branding.logo': null,
    'branding.accent': null,
    'legal.terms': null,
    'legal.privacy': null,
    'legal.imprint': null,
    'legal.support': null,
  }
}

/** Returns all settings: those of the environment, of the database, and the defaults. */
export function applySettings(config: Origin & Pick<Config, 'fixed'>, stored: SomeSettings): SettingValues {
  return { ...defaultSettings(config), ...stored, ...config.fixed }
}

/** Parses the value of a setting as it is stored. Returns undefined if it is invalid. */
type Parse = (value: string) => string | undefined

const parsePage: Parse = (url) => linkOf(url, ['https:'])

const parsers: Record<SettingKey, Parse> = {
  'registration.mode': (mode) => mode,
  'branding.name': (name) => (isServiceName(name) && isDisplayName(name) ? name : undefined),
  'branding.logo': (pictureId) => pictureId,
  'branding.accent': (color) => accentOf(color)?.hex,
  'legal.terms': parsePage,
  'legal.privacy': parsePage,
  'legal.imprint': parsePage,
  'legal.support': (url) => linkOf(url, ['https:', 'mailto:']),
}

const page = 'must be an https URL without user name and password, of at most 2,000 characters'

/** What a value must be, by key. */
const demands: Record<SettingKey, string> = {
  'registration.mode': 'must be open, invited or closed',
  'branding.name': 'must be 1 to 40 visible characters in one line',
  'branding.logo': 'must be a picture of the service',
  'branding.accent': 'must be a color such as #2841ae',
  'legal.terms': page,
  'legal.privacy': page,
  'legal.imprint': page,
  'legal.support': `${page}, or mailto: and an e-mail address`,
}

/** Returns the value of a setting as it is stored, or what is wrong with it. */
export function parseSetting(key: SettingKey, written: string): { value: string } | { objection: string } {
  const value = parsers[key](written)
  // A URL can become longer: every other character than those of ASCII is percent-encoded.
  const isValid = value !== undefined && Value.Check(settingSchemas[key], value)
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
  const known = settingKeys.filter((key) => Value.Check(settingSchemas[key], values.get(key)))
  return Value.Parse(SomeSettings, Object.fromEntries(known.map((key) => [key, values.get(key)])))
}

/** Reads who may create an account, as it is at this moment of a transaction. */
export async function readRegistrationMode(
  tx: Transaction,
  config: Origin & Pick<Config, 'fixed'>,
): Promise<RegistrationMode> {
  const found = await readStoredSettings(tx)
  return applySettings(config, found?.stored ?? {})['registration.mode']
}
