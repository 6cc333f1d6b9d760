import { usePageMessages } from '../../components/frame/Root.tsx'
import { actMessages as enAct } from '../../locales/en/pages/acts.ts'
import { organizationKeyMessages as en } from '../../locales/en/pages/organization-keys.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const deAct = lateTexts('de', async () => (await import('../../locales/de/pages/acts.ts')).actMessages)
const de = lateTexts(
  'de',
  async () => (await import('../../locales/de/pages/organization-keys.ts')).organizationKeyMessages,
)
const arAct = lateTexts('ar', async () => (await import('../../locales/ar/pages/acts.ts')).actMessages)
const ar = lateTexts(
  'ar',
  async () => (await import('../../locales/ar/pages/organization-keys.ts')).organizationKeyMessages,
)

/** Returns the messages of this page, which no other page loads. */
export function useKeyWords() {
  return usePageMessages({ en, de, ar })
}

/** Returns the messages about signed changes. */
export function useActWords() {
  return usePageMessages({ en: enAct, de: deAct, ar: arAct })
}
