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

type Draft = { displayName: string; description: string; isProtected: boolean }

/** Returns the fields that a change sends: at least one, and the protection only if needed, as owners alone may. */
function changeOf(group: Group, { displayName, description, isProtected }: Draft) {
  const isOurs = isManual(group)
  const isDescriptionChanged = isOurs && description !== (group.description ?? '')
  return {
    ...(isOurs && { displayName }),
    ...(isDescriptionChanged && { description: description === '' ? null : description }),
    ...((!isOurs || isProtected !== group.protected) && { protected: isProtected }),
  }
}

/** Returns the options of the command that makes the same change. */
function optionsOf(group: Group, draft: Draft): string[] {
  const change = changeOf(group, draft)
  return [
    ...(change.displayName === undefined ? [] : ['--name', change.displayName || '…']),
    ...(change.description === undefined ? [] : ['--description', draft.description]),
    ...(change.protected === undefined ? [] : [change.protected ? '--protected' : '--no-protected']),
  ]
}

function Dialog({ group, onChanged, onClose }: Props & { onClose: () => void }) {
  const words = useGroupsMessages()
  const { ask, may } = useOperator()
  const [name, setName] = useState(group.displayName)
  const [description, setDescription] = useState(group.description ?? '')
  const [isProtected, setProtected] = useState(group.protected)
  const [isChecked, setChecked] = useState(false)
  const draft = { displayName: name.trim(), description: description.trim(), isProtected }
  const isOurs = isManual(group)
  const isValid = !isOurs || isDisplayName(draft.displayName)
  const act = {
    name: 'save-group',
    label: words.edit.save,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const params = { groupId: group.groupId }
      onChanged(await ask('PATCH /api/admin/groups/:groupId', { params, body: changeOf(group, draft) }))
      onClose()
      toast(words.edit.saved)
    },
  }
  return (
    <Ask
      title={words.edit.title(isolate(group.displayName))}
      act={act}
      onClose={onClose}
      command={['groups', 'change', group.key, ...optionsOf(group, draft)]}
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
