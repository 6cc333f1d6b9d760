import type { SettingKey, SettingValue } from '@countersign/protocol/operations/settings'
import { formatNumber } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { registrationModes } from './draft.ts'
import { useSettingsMessages } from './words.ts'

/** Returns what shows the value of a setting: a mode of registration by its name, and no URL of a logo. */
export function useValueName(): (key: string, value: SettingValue) => string {
  const words = useSettingsMessages()
  return (key, value) => {
    if (typeof value === 'number') return formatNumber(value)
    if (value === null || value.length === 0) return words.none
    if (Array.isArray(value)) return value.join(', ')
    if (key === 'branding.logo') return words.picture
    const mode = key === 'registration.mode' && registrationModes.find((each) => each === value)
    return mode ? words.modes[mode].label : value
  }
}

/** Returns what shows a setting with its value in one line. */
export function useNamedValue(): (key: string, value: SettingValue) => string {
  const words = useSettingsMessages()
  const nameOf = useValueName()
  const labels: Partial<Record<string, string>> = words.keys satisfies Record<SettingKey, string>
  return (key, value) => words.named(labels[key] ?? key, isolate(nameOf(key, value)))
}
