import type { Words } from '../../../locales/words.ts'
import { deviceOf } from './device.ts'

/** A device in the words by which its owner may recognise it. */
export function nameOf({ userAgent }: { userAgent: string | null }, { sessions }: Pick<Words, 'sessions'>): string {
  const { browser, system } = deviceOf(userAgent ?? '')
  if (browser && system) return sessions.on(browser, system)
  return browser ?? system ?? sessions.unknown
}
