import type { Group } from '@countersign/protocol/accounts/groups'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { isManual } from './protection.tsx'
import { useGroupsMessages } from './words.ts'

type Props = { group: Group; onChanged: (group: Group) => void }

/** Offers to change the name and the protection of a group, or the protection alone if others manage the group. */
export function EditGroup({ group, onChanged }: Props) {
  const words = useGroupsMessages()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="button" data-action="ask-edit-group" onClick={() => setOpen(true)}>
        {words.edit.open}
      </button>
      {isOpen && <Dialog group={group} onChanged={onChanged} onClose={() => setOpen(false)} />}
    </>
  )
}

function Dialog({ group, onChanged, onClose }: Props & { onClose: () => void }) {
  const words = useGroupsMessages()
  const { ask, may } = useOperator()
  const { groupId, key } = group
  const [name, setName] = useState(group.displayName)
  const [isProtected, setProtected] = useState(group.protected)
  const [isChecked, setChecked] = useState(false)
  const displayName = name.trim()
  const isOurs = isManual(group)
  const isValid = !isOurs || isDisplayName(displayName)
  const isProtectionChanged = isProtected !== group.protected
  const act = {
    name: 'save-group',
    label: words.edit.save,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      // A change has at least one field, and an owner alone may send the protection.
      const body = {
        ...(isOurs && { displayName }),
        ...((!isOurs || isProtectionChanged) && { protected: isProtected }),
      }
      onChanged(await ask('PATCH /api/admin/groups/:groupId', { params: { groupId }, body }))
      onClose()
      toast(words.edit.saved)
    },
  }
  const protection = isProtectionChanged ? [isProtected ? '--protected' : '--no-protected'] : []
  return (
    <Ask
      title={words.edit.title(isolate(group.displayName))}
      act={act}
      onClose={onClose}
      command={['groups', 'change', key, ...(isOurs ? ['--name', displayName || '…'] : []), ...protection]}
    >
      {isOurs && (
        <Field
          name="name"
          label={words.name}
          hint={words.nameHint}
          value={name}
          onInput={setName}
          problem={isChecked && !isValid ? words.edit.nameProblem : undefined}
        />
      )}
      {may('operators.manage') && (
        <RadioGroup
          name="protected"
          legend={words.edit.protection}
          of={[{ value: 'protected', ...words.protected }]}
          chosen={isProtected ? ['protected'] : []}
          several
          onChoose={() => setProtected(!isProtected)}
        />
      )}
    </Ask>
  )
}
