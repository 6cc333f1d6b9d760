import { usePageMessages } from '../../components/frame/Root.tsx'
import { consoleMessages as de } from '../../locales/de/pages/organizations/console.ts'
import { consoleMessages as en } from '../../locales/en/pages/organizations/console.ts'

/** The messages of the frame, which every view loads. */
export function useConsoleMessages(): typeof en {
  return usePageMessages({ en, de })
}
