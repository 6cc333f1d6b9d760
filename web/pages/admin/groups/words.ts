import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminGroupsMessages as en } from '../../../locales/en/pages/admin/groups.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/admin/groups.ts')).adminGroupsMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/admin/groups.ts')).adminGroupsMessages)

/** The messages of this section. */
export function useGroupsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
