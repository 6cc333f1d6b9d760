import { usePageMessages } from '../../components/frame/Root.tsx'
import { adminMessages as en } from '../../locales/en/pages/admin/console.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/admin/console.ts')).adminMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/admin/console.ts')).adminMessages)

/** The messages of the frame of the operator pages, which all of them load. */
export function useAdminMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
