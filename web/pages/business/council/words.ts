import { usePageMessages } from '../../../components/frame/Root.tsx'
import { actMessages as deActs } from '../../../locales/de/pages/acts.ts'
import { councilMessages as de } from '../../../locales/de/pages/council.ts'
import { actMessages as enActs } from '../../../locales/en/pages/acts.ts'
import { councilMessages as en } from '../../../locales/en/pages/council.ts'

export function useCouncilMessages() {
  return usePageMessages({ en, de })
}

/** Returns the messages that describe what is proposed. */
export function useActMessages() {
  return usePageMessages({ en: enActs, de: deActs })
}
