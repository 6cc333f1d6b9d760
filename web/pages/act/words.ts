import { usePageMessages } from '../../components/frame/Root.tsx'
import { actMessages as deAct } from '../../locales/de/pages/acts.ts'
import { businessMessages as de } from '../../locales/de/pages/business.ts'
import { actMessages as enAct } from '../../locales/en/pages/acts.ts'
import { businessMessages as en } from '../../locales/en/pages/business.ts'

/** The messages about organizations, which describe the fields of signed actions. */
export type BusinessWords = typeof en
export type ActWords = typeof enAct

export function useBusinessMessages(): BusinessWords {
  return usePageMessages({ en, de })
}

export function useActMessages(): ActWords {
  return usePageMessages({ en: enAct, de: deAct })
}
