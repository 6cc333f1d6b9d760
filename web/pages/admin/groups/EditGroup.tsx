import type { RequestOf } from '@countersign/protocol/api'
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

/** Offers to change the name, description and protection of a group; the protection alone if others manage it. */
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

type GroupChange = RequestOf<'PATCH /api/admin/groups/:groupId'>['body']
type Draft = { displayName: string; description: string; isProtected: boolean }

/** Returns the fields that differ from the group that the dialog showed. Owners alone may change the protection. */
function changeOf(group: Group, { displayName, description, isProtected }: Draft): GroupChange {
  const isOurs = isManual(group)
  const isDescriptionChanged = isOurs && description !== (group.description ?? '')
  return {
    ...(isOurs && displayName !== group.displayName && { displayName }),
    ...(isDescriptionChanged && { description: description === '' ? null : description }),
    ...(isProtected !== group.protected && { protected: isProtected }),
  }
}

/** Returns the options of the command that makes the same change. */
function optionsOf(change: GroupChange): string[] {
  return [
    ...(change.displayName === undefined ? [] : ['--name', change.displayName || '…']),
    ...(change.description === undefined ? [] : ['--description', change.description ?? '']),
    ...(change.protected === undefined ? [] : [change.protected ? '--protected' : '--no-protected']),
  ]
}

function Dialog({ group, onChanged, onClose }: Props & { onClose: () => void }) {
  const words = useGroupsMessages()
  const { ask, may } = useOperator()
  const [shown] = useState(group)
  const [name, setName] = useState(group.displayName)
  const [description, setDescription] = useState(group.description ?? '')
  const [isProtected, setProtected] = useState(group.protected)
  const [isChecked, setChecked] = useState(false)
  const draft = { displayName: name.trim(), description: description.trim(), isProtected }
  const change = changeOf(shown, draft)
  const isOurs = isManual(group)
  const isValid = !isOurs || isDisplayName(draft.displayName)
  const act = {
    name: 'save-group',
    label: words.edit.save,
    asleep: Object.keys(change).length === 0,
    do: async () => {
      setChecked(true)
      if (!isValid || Object.keys(change).length === 0) return
      const params = { groupId: group.groupId }
      onChanged(await ask('PATCH /api/admin/groups/:groupId', { params, body: change }))
      onClose()
      toast(words.edit.saved)
    },
  }
  return (
    <Ask
      title={words.edit.title(isolate(group.displayName))}
      act={act}
      onClose={onClose}
      command={['groups', 'change', group.key, ...optionsOf(change)]}
    >
      {isOurs && (
        <>
          <Field
            name="name"
            label={words.name}
            hint={words.nameHint}
            value={name}
            onInput={setName}
            problem={isChecked && !isValid ? words.edit.nameProblem : undefined}
          />
          <Field
            name="description"
            label={words.description}
            hint={words.descriptionHint}
            value={description}
            onInput={setDescription}
          />
        </>
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
