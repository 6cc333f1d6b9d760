import type { AccountInvitation } from '@countersign/protocol/accounts/invitations'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { useInvitationsMessages } from './words.ts'

/** Shows the link of a new invitation. It cannot be shown again. */
export function IssuedLink({ url, onClose }: { url: string; onClose: () => void }) {
  const words = useInvitationsMessages()
  return (
    <Dialog title={words.issuedTitle} onClose={onClose}>
      <Note tone="wait">{words.once}</Note>
      <div class="copyable" dir="ltr">
        <code data-name="invitation-link">{url}</code>
        <CopyButton text={url} action="copy-invitation" what={words.issuedTitle} />
      </div>
      <div class="actions">
        <button type="button" class="button primary" data-action="invitation-copied" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </Dialog>
  )
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
