import { usePageMessages } from '../../../components/frame/Root.tsx'
import { actMessages as enActs } from '../../../locales/en/pages/acts.ts'
import { councilMessages as en } from '../../../locales/en/pages/council.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const deActs = lateTexts('de', async () => (await import('../../../locales/de/pages/acts.ts')).actMessages)
const de = lateTexts('de', async () => (await import('../../../locales/de/pages/council.ts')).councilMessages)
const arActs = lateTexts('ar', async () => (await import('../../../locales/ar/pages/acts.ts')).actMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/council.ts')).councilMessages)

export function useCouncilMessages() {
  return usePageMessages({ en, de, ar })
}

/** Returns the messages that describe what is proposed. */
export function useActMessages() {
  return usePageMessages({ en: enActs, de: deActs, ar: arActs })
}
