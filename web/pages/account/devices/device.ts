import { deviceOf } from '@countersign/protocol/formats/registries/devices'
import type { IconName } from '../../../components/ui/Icon.tsx'
import type { Messages } from '../../../locales/messages.ts'

type Words = Pick<Messages, 'sessions'>

/** Names a device as its owner may recognize it. */
export function nameOf({ userAgent }: { userAgent: string | null }, words: Words): string {
  return deviceName(userAgent ?? '', words) ?? words.sessions.unknown
}

/** Names the browser and the system of a user agent, or returns undefined if neither is known. */
export function deviceName(userAgent: string, { sessions }: Words): string | undefined {
  const { browser, system } = deviceOf(userAgent)
  return browser && system ? sessions.on(browser, system) : (browser ?? system)
}

const handhelds = ['iPhone', 'iPad', 'Android']

/** Returns the icon of a device. */
export function deviceIcon(userAgent: string | null): IconName {
  const { system } = deviceOf(userAgent ?? '')
  if (system === undefined) return 'globe'
  return handhelds.includes(system) ? 'smartphone' : 'laptop'
}

/** Returns whether two user agents are of the same kind of device, in any version. */
export function isSameDevice(one: string, other: string): boolean {
  const [first, second] = [deviceOf(one), deviceOf(other)]
  return first.browser === second.browser && first.system === second.system
}
