import type { Group } from '@countersign/protocol/accounts/groups'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Ask } from '../acting/Ask.tsx'
import { findIdentityId } from '../acting/find-identity.ts'
import { useOperator } from '../acting/operator.ts'
import { useAdminMessages } from '../words.ts'
import { useGroupsMessages } from './words.ts'

type Props = { group: Group; onAdded: () => void; onClose: () => void }

/** Asks for the username or the ID of an identity, and makes it a member. */
export function AddMember({ group, onAdded, onClose }: Props) {
  const words = useGroupsMessages()
  const { identity } = useAdminMessages()
  const operator = useOperator()
  const [given, setGiven] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isMissing = given.trim() === ''
  const act = {
    name: 'add-group-member',
    label: words.addMember,
    do: async () => {
      setChecked(true)
      if (isMissing) return
      const params = { groupId: group.groupId, identityId: await findIdentityId(operator, given) }
      await operator.ask('PUT /api/admin/groups/:groupId/members/:identityId', { params })
      onClose()
      onAdded()
      toast(words.added)
    },
  }
  return (
    <Ask
      title={words.addMember}
      act={act}
      onClose={onClose}
      command={['groups', 'add', group.key, given.trim() || '…']}
    >
      <Field
        name="identity"
        label={identity}
        value={given}
        onInput={setGiven}
        problem={isChecked && isMissing ? words.memberMissing : undefined}
        exact
      />
    </Ask>
  )
}
