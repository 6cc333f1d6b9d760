import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ShownOnce } from '../acting/ShownOnce.tsx'
import { useInvitationsMessages } from './words.ts'

/** Shows the link of a new invitation. It cannot be shown again. */
export function IssuedLink({ url, onClose }: { url: string; onClose: () => void }) {
  const words = useInvitationsMessages()
  const said = { what: words.issuedTitle, once: words.once, saved: words.done }
  return <ShownOnce title={words.issuedTitle} name="invitation-link" text={url} words={said} onClose={onClose} />
}

type Props = { invitation: AccountInvitation; onDone: () => void; onClose: () => void }

/** Mails an invitation again, with a new link. */
export function ResendInvitation({ invitation, onDone, onClose }: Props) {
  const words = useInvitationsMessages()
  const { ask } = useOperator()
  const { invitationId } = invitation
  const email = isolate(invitation.email ?? '')
  const act = {
    name: 'resend-invitation',
    label: words.resend,
    do: async () => {
      await ask('POST /api/admin/invitations/:invitationId/resend', { params: { invitationId } })
      onDone()
      toast(words.mailed(email))
    },
  }
  return (
    <Ask title={words.resendTitle(email)} act={act} onClose={onClose} command={['invitations', 'resend', invitationId]}>
      <p>{words.resendWhat}</p>
    </Ask>
  )
}

export function RevokeInvitation({ invitation: { invitationId }, onDone, onClose }: Props) {
  const words = useInvitationsMessages()
  const { ask } = useOperator()
  const act = {
    name: 'revoke-invitation',
    label: words.revoke,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/invitations/:invitationId', { params: { invitationId } })
      onDone()
      toast(words.revoked)
    },
  } as const
  return (
    <Ask title={words.revokeTitle} act={act} onClose={onClose} command={['invitations', 'delete', invitationId]}>
      <p>{words.revokeWhat}</p>
    </Ask>
  )
}
