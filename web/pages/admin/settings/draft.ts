import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { normalizeDomainPattern, registrationDomainsMax } from '@countersign/protocol/formats/registration/domain-list'
import { accentOf } from '@countersign/protocol/formats/looks/accent'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type {
  RegistrationMode,
  Setting,
  SettingChanges,
  SettingKey,
  Settings,
  SettingValue,
} from '@countersign/protocol/operations/settings'
import { parseWholeNumber } from '../../../lib/text/dates.ts'

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

export const registrationModes = ['open', 'domains', 'invited', 'closed'] as const satisfies RegistrationMode[]

/** What an operator has changed on the page, and not saved yet. An empty text restores the default. */
export type Draft = { 'registration.mode'?: RegistrationMode } & {
  [Key in TextKey | 'registration.domains' | 'audit.retentionDays']?: string
}

/** Returns the text of a value, empty without one. A list has an entry on each line. */
export function textOf(value: SettingValue | undefined): string {
  return Array.isArray(value) ? value.join('\n') : String(value ?? '')
}

/** Returns how a draft changes settings. Leaves out texts that are as before. */
export function changesOf(draft: Draft, { settings }: Settings): SettingChanges {
  const { 'registration.mode': mode, 'registration.domains': list, 'audit.retentionDays': days, ...texts } = draft
  const changes: SettingChanges = {}
  if (mode !== undefined && mode !== settings['registration.mode']?.value) changes['registration.mode'] = mode
  if (list !== undefined) {
    const domains = domainsIn(list)
    if (domains.join('\n') !== textOf(settings['registration.domains']?.value))
      changes['registration.domains'] = domains.length === 0 ? null : domains
  }
  const retention = settings['audit.retentionDays']
  if (days !== undefined && retention !== undefined) {
    // Other text is a change, too: its fault is shown when the operator saves it.
    const value = days.trim() === '' ? null : (parseWholeNumber(days) ?? Number.NaN)
    if (!isSame(value, retention)) changes['audit.retentionDays'] = value
  }
  for (const key of textKeys) {
    const [written, before] = [texts[key], settings[key]]
    if (written === undefined || before === undefined) continue
    const value = valueOf(key, written)
    if (!isSame(value, before)) changes[key] = value
  }
  return changes
}

/** Returns the domains in a text as the server stores them. Others remain as they are written. */
function domainsIn(written: string): string[] {
  const found = written.split(/[\s,;]+/).filter((each) => each !== '')
  return [...new Set(found.map((each) => normalizeDomainPattern(each) ?? each))].toSorted()
}

/** Why a list of domains would be refused: it has none, too many, or this text. */
export type DomainsFault = { kind: 'none' } | { kind: 'too many' } | { kind: 'invalid'; text: string }

/** Returns why a list of domains would be refused, if it would. */
export function domainsFaultOf(written: string): DomainsFault | undefined {
  const domains = domainsIn(written)
  const text = domains.find((each) => normalizeDomainPattern(each) === undefined)
  if (text !== undefined) return { kind: 'invalid', text }
  if (domains.length === 0) return { kind: 'none' }
  return domains.length > registrationDomainsMax ? { kind: 'too many' } : undefined
}

function isSame(value: string | number | null, { value: before, source }: Setting): boolean {
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

/** Whether the server would refuse a number of days. An empty text is the default. */
export function isRetentionFaulty(text: string): boolean {
  const days = parseWholeNumber(text)
  const isValid = days !== undefined && days >= pageLimits.retentionDaysMin && days <= pageLimits.retentionDaysMax
  return text.trim() !== '' && !isValid
}

function isLink(key: TextKey, value: string): boolean {
  const url = URL.parse(value)
  if (!url || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (key === 'legal.support' && url.protocol === 'mailto:')
}

/** Drops from a draft what was saved, and what was changed meanwhile by another operator. */
export function stillOpen(draft: Draft, before: Settings, after: Settings): Draft {
  const isSettled = (key: SettingKey) => textOf(before.settings[key]?.value) !== textOf(after.settings[key]?.value)
  const open = { ...draft }
  if (isSettled('registration.mode')) delete open['registration.mode']
  if (isSettled('registration.domains')) delete open['registration.domains']
  for (const key of [...textKeys, 'audit.retentionDays'] as const) if (isSettled(key)) delete open[key]
  return open
}
