import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { accentOf } from '@countersign/protocol/formats/looks/accent'
import type {
  RegistrationMode,
  Setting,
  SettingChanges,
  SettingKey,
  Settings,
} from '@countersign/protocol/operations/settings'

/** The settings that are texts, in the order of their fields. */
export const textKeys = [
  'branding.name',
  'branding.accent',
  'legal.terms',
  'legal.privacy',
  'legal.imprint',
  'legal.support',
] as const satisfies SettingKey[]

export type TextKey = (typeof textKeys)[number]

export const registrationModes = ['open', 'invited', 'closed'] as const satisfies RegistrationMode[]

/** What an operator has changed on the page, and not saved yet. An empty text restores the default. */
export type Draft = { 'registration.mode'?: RegistrationMode } & { [Key in TextKey]?: string }

/** Returns how a draft changes settings. Leaves out texts that are as before. */
export function changesOf({ 'registration.mode': mode, ...texts }: Draft, { settings }: Settings): SettingChanges {
  const changes: SettingChanges = {}
  if (mode !== undefined && mode !== settings['registration.mode']?.value) changes['registration.mode'] = mode
  for (const key of textKeys) {
    const [written, before] = [texts[key], settings[key]]
    if (written === undefined || before === undefined) continue
    const value = valueOf(key, written)
    if (!isSame(value, before)) changes[key] = value
  }
  return changes
}

function isSame(value: string | null, { value: before, source }: Setting): boolean {
  return value === before || (value === null && source === 'default')
}

/** Returns the value of a text: a URL or color in its normal form, or null if it is empty. */
function valueOf(key: TextKey, written: string): string | null {
  const text = written.trim()
  if (text === '') return null
  if (key === 'branding.accent') return accentOf(text)?.hex ?? text
  return key === 'branding.name' ? text : (URL.parse(text)?.href ?? text)
}

const nameCharactersMax = 40

/** Returns the texts that the server would refuse. */
export function faultsOf(draft: Draft): Set<TextKey> {
  return new Set(
    textKeys.filter((key) => {
      const value = valueOf(key, draft[key] ?? '')
      if (value === null) return false
      if (key === 'branding.accent') return accentOf(value) === undefined
      return key === 'branding.name' ? !isDisplayName(value, nameCharactersMax) : !isLink(key, value)
    }),
  )
}

function isLink(key: TextKey, value: string): boolean {
  const url = URL.parse(value)
  if (!url || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (key === 'legal.support' && url.protocol === 'mailto:')
}

/** Drops from a draft what was saved, and what was changed meanwhile by another operator. */
export function stillOpen(draft: Draft, before: Settings, after: Settings): Draft {
  const isSettled = (key: SettingKey) => before.settings[key]?.value !== after.settings[key]?.value
  const open = { ...draft }
  if (isSettled('registration.mode')) delete open['registration.mode']
  for (const key of textKeys) if (isSettled(key)) delete open[key]
  return open
}
