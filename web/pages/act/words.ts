import { usePageMessages } from '../../components/frame/Root.tsx'
import { actMessages as de } from '../../locales/de/pages/acts.ts'
import { actMessages as en } from '../../locales/en/pages/acts.ts'

export function useActMessages() {
  return usePageMessages({ en, de })
}
