import { usePageMessages } from '../../../components/frame/Root.tsx'
import { invitationMessages as de } from '../../../locales/de/pages/organizations/invitation.ts'
import { invitationMessages as en } from '../../../locales/en/pages/organizations/invitation.ts'

/** The messages of the page of an invitation. */
export function useInvitationMessages() {
  return usePageMessages({ en, de })
}
