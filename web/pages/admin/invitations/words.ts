import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminInvitationsMessages as en } from '../../../locales/en/pages/admin/invitations.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/invitations.ts')).adminInvitationsMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/invitations.ts')).adminInvitationsMessages,
)

/** The messages of this section. */
export function useInvitationsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
