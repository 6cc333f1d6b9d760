import { usePageMessages } from '../../../components/frame/Root.tsx'
import { invitationMessages as de } from '../../../locales/de/pages/organizations/invitation.ts'
import { invitationMessages as en } from '../../../locales/en/pages/organizations/invitation.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/organizations/invitation.ts')).invitationMessages,
)

/** The messages of the page of an invitation. */
export function useInvitationMessages() {
  return usePageMessages({ en, de, ar })
}
