import { usePageMessages } from '../../components/frame/Root.tsx'
import { actMessages as en } from '../../locales/en/pages/acts.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/acts.ts')).actMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/acts.ts')).actMessages)

export function useActMessages() {
  return usePageMessages({ en, de, ar })
}
