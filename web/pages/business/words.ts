import { usePageMessages } from '../../components/frame/Root.tsx'
import { businessMessages as de } from '../../locales/de/pages/business.ts'
import { businessMessages as en } from '../../locales/en/pages/business.ts'

/** The messages about organizations, which the other pages do not load. */
export type BusinessWords = typeof en

export function useBusinessMessages(): BusinessWords {
  return usePageMessages({ en, de })
}
