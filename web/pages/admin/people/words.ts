import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminPeopleMessages as en } from '../../../locales/en/pages/admin/people.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/admin/people.ts')).adminPeopleMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/admin/people.ts')).adminPeopleMessages)

/** The messages about the identities of the service. */
export function usePeopleMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
