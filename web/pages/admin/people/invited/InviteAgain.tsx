import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { toast } from '../../../../components/frame/toast.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { IssuedLink } from '../../invitations/InvitationDialogs.tsx'
import { usePeopleMessages } from '../words.ts'

type Props = { identity: AdminIdentityDetails; onClose: () => void }

/** Invites the user of an invited identity again: by mail, or with a link that is shown once. */
export function InviteAgain({ identity: { identityId, handle, displayName, email }, onClose }: Props) {
  const { invited, create } = usePeopleMessages()
  const { ask } = useOperator()
  const [url, setUrl] = useState<string>()
  const act = {
    name: 'invite-again',
    label: invited.now,
    do: async () => {
      const again = await ask('POST /api/admin/identities/:identityId/invitation', { params: { identityId }, body: {} })
      if (again.url !== undefined) return setUrl(again.url)
      onClose()
      toast(create.mailed(isolate(email ?? '')))
    },
  }
  if (url !== undefined) return <IssuedLink url={url} onClose={onClose} />
  return (
    <Ask title={invited.title(isolate(displayName))} act={act} onClose={onClose} command={['people', 'invite', handle]}>
      <p>{invited.about}</p>
    </Ask>
  )
}
