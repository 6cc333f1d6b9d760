import type { Group } from '@countersign/protocol/accounts/groups'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { Ask } from '../acting/Ask.tsx'
import { isKey } from '../acting/key.ts'
import { useOperator } from '../acting/operator.ts'
import { useGroupsMessages } from './words.ts'

type Props = { onCreated: (group: Group) => void; onClose: () => void }

/** Asks for the key, the name and the description of a new group. */
export function NewGroup({ onCreated, onClose }: Props) {
  const words = useGroupsMessages()
  const { ask } = useOperator()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const [written, setWritten] = useState('')
  const [isChecked, setChecked] = useState(false)
  const displayName = name.trim() || key
  const description = written.trim()
  const isValid = isKey(key)
  const act = {
    name: 'create-group',
    label: words.create,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      onCreated(
        await ask('POST /api/admin/groups', { body: { key, displayName, ...(description && { description }) } }),
      )
    },
  }
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={[
        ...['groups', 'create', key || '…', ...(name.trim() === '' ? [] : ['--name', name.trim()])],
        ...(description === '' ? [] : ['--description', description]),
      ]}
    >
      <Field
        name="key"
        label={words.key}
        hint={words.keyHint}
        value={key}
        onInput={setKey}
        problem={isChecked && !isValid ? words.keyProblem : undefined}
        exact
        isCode
      />
      <Field name="name" label={words.name} hint={words.nameHint} value={name} onInput={setName} />
      <Field
        name="description"
        label={words.description}
        hint={words.descriptionHint}
        value={written}
        onInput={setWritten}
      />
    </Ask>
  )
}
