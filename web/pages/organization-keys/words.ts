import { usePageMessages } from '../../components/frame/Root.tsx'
import { actMessages as deAct } from '../../locales/de/pages/acts.ts'
import { organizationKeyMessages as de } from '../../locales/de/pages/organization-keys.ts'
import { actMessages as enAct } from '../../locales/en/pages/acts.ts'
import { organizationKeyMessages as en } from '../../locales/en/pages/organization-keys.ts'

/** Returns the messages of this page, which no other page loads. */
export function useKeyWords() {
  return usePageMessages({ en, de })
}

/** Returns the messages about signed changes. */
export function useActWords() {
  return usePageMessages({ en: enAct, de: deAct })
}
