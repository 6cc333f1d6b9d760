import { usePageMessages } from '../../components/frame/Root.tsx'
import { consoleMessages as de } from '../../locales/de/pages/organizations/console.ts'
import { consoleMessages as en } from '../../locales/en/pages/organizations/console.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const ar = lateTexts(
  'ar',
  async () => (await import('../../locales/ar/pages/organizations/console.ts')).consoleMessages,
)

/** The messages of the frame, which every view loads. */
export function useConsoleMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
