import type { Operator } from '@countersign/protocol/accounts/operators'
import { operatorRoles, type OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { useAdminMessages } from '../words.ts'
import { useOperatorsMessages } from './words.ts'

type Props = { onDone: () => void; onClose: () => void }

/** Asks for the username and the role of a new operator. */
export function AddOperator({ onDone, onClose }: Props) {
  const words = useOperatorsMessages()
  const { ask } = useOperator()
  const [handle, setHandle] = useState('')
  const [role, setRole] = useState<OperatorRole>('people')
  const [isChecked, setChecked] = useState(false)
  const written = handle.trim().replace(/^@/, '')
  const act = {
    name: 'add-operator',
    label: words.add,
    do: async () => {
      setChecked(true)
      if (written === '') return
      const { displayName } = await ask('POST /api/admin/operators', { body: { handle: written, role } })
      onDone()
      toast(words.added(isolate(displayName)))
    },
  }
  return (
    <Ask title={words.add} act={act} onClose={onClose} command={['operators', 'add', written || '…', '--role', role]}>
      <Field
        name="handle"
        label={words.handle}
        prefix="@"
        value={handle}
        onInput={setHandle}
        problem={isChecked && written === '' ? words.handleMissing : undefined}
        exact
      />
      <RoleChoice chosen={role} onChoose={setRole} />
    </Ask>
  )
}

/** Changes the role of an operator. The admin tokens that they created are revoked. */
export function ChangeRole({ operator, onDone, onClose }: Props & { operator: Operator }) {
  const words = useOperatorsMessages()
  const { ask } = useOperator()
  const { identityId, handle, displayName } = operator
  const [role, setRole] = useState<OperatorRole>(operator.role)
  const act = {
    name: 'change-operator',
    label: words.changeNow,
    do: async () => {
      await ask('PATCH /api/admin/operators/:identityId', { params: { identityId }, body: { role } })
      onDone()
      toast(words.changed(isolate(displayName)))
    },
  }
  return (
    <Ask
      title={words.changeTitle(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['operators', 'change', handle, '--role', role]}
    >
      <RoleChoice chosen={role} onChoose={setRole} />
      <p>{words.tokensEnd}</p>
    </Ask>
  )
}

export function RemoveOperator({ operator, onDone, onClose }: Props & { operator: Operator }) {
  const words = useOperatorsMessages()
  const { ask } = useOperator()
  const { identityId, handle, displayName } = operator
  const act = {
    name: 'remove-operator',
    label: words.remove,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/operators/:identityId', { params: { identityId }, querystring: {} })
      onDone()
      toast(words.removed(isolate(displayName)))
    },
  } as const
  return (
    <Ask
      title={words.removeTitle(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['operators', 'remove', handle]}
    >
      <p>{words.removeWhat}</p>
      <p>{words.tokensEnd}</p>
    </Ask>
  )
}

function RoleChoice({ chosen, onChoose }: { chosen: OperatorRole; onChoose: (role: OperatorRole) => void }) {
  const words = useOperatorsMessages()
  const { roles } = useAdminMessages()
  return (
    <RadioGroup
      name="role"
      legend={words.role}
      of={operatorRoles.map((value) => ({ value, label: roles[value], about: words.rolesWhat[value] }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}
