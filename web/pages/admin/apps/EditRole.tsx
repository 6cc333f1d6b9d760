import type { AppRoles } from '@countersign/protocol/clients/roles'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { findIdentityId } from '../acting/find-identity.ts'
import { isKey } from '../acting/key.ts'
import { useOperator } from '../acting/operator.ts'
import { optionsOf } from '../acting/options-of.ts'
import { useEntered } from '../acting/use-entered.ts'
import { wordsOf } from '../acting/words-of.ts'
import { hasRole, type RoleView, withRole } from './role-view.ts'
import { type Replacing, useReplacement } from './use-replacement.ts'
import { useAppsMessages } from './words.ts'

type Props = Replacing & { role?: RoleView; onClose: () => void; onStale: (roles: AppRoles) => void }

type Values = { key: string; name: string; groups: string; people: string }
/** Adds a role of an app, or changes its name and who has it. */
export function EditRole({ role, onClose, onStale, ...replacing }: Props) {
  const { roles: words } = useAppsMessages()
  const operator = useOperator()
  const replace = useReplacement(replacing, onStale)
  const { clientId, of: before } = replacing
  const { draft, enter } = useEntered(valuesOf(role))
  const [isChecked, setChecked] = useState(false)
  const { key } = draft
  const displayName = draft.name.trim() || key
  const [groups, people] = [wordsOf(draft.groups), wordsOf(draft.people)]
  const isTaken = role === undefined && hasRole(before, key)
  const isValid = isKey(key) && !isTaken
  const act = {
    name: 'save-role',
    label: words.save,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const identities: string[] = []
      for (const each of people) identities.push(await findIdentityId(operator, each))
      await replace(withRole(before, { key, displayName, groups, identities }))
      onClose()
      toast(words.saved(isolate(displayName)))
    },
  }
  const invalidKey = isValid ? undefined : words.keyProblem
  const keyProblem = isTaken ? words.keyTaken : invalidKey
  const options = [
    ...(displayName === key ? [] : ['--name', displayName]),
    ...optionsOf('--group', groups),
    ...optionsOf('--identity', people),
  ]
  return (
    <Ask
      title={role ? words.edit(isolate(role.displayName)) : words.add}
      act={act}
      onClose={onClose}
      // It would replace the role that has the key.
      {...(!isTaken && { command: ['apps', 'roles', 'set', clientId, key || '…', ...options] })}
    >
      <DraftFields
        draft={draft}
        isNew={role === undefined}
        problem={isChecked ? keyProblem : undefined}
        onChange={enter}
      />
    </Ask>
  )
}

function valuesOf(role: RoleView | undefined): Values {
  return {
    key: role?.key ?? '',
    name: role?.displayName ?? '',
    groups: role?.groups.join(' ') ?? '',
    people: role?.handles.map(atHandle).join(' ') ?? '',
  }
}

type FieldsProps = {
  draft: Values
  isNew: boolean
  problem: string | undefined
  onChange: (name: keyof Values, text: string) => void
}

function DraftFields({ draft, isNew, problem, onChange }: FieldsProps) {
  const { roles: words } = useAppsMessages()
  return (
    <>
      {isNew && (
        <Field
          name="key"
          label={words.key}
          hint={words.keyHint}
          value={draft.key}
          onInput={(text) => onChange('key', text)}
          problem={problem}
          exact
          isCode
        />
      )}
      <Field
        name="name"
        label={words.name}
        hint={words.nameHint}
        value={draft.name}
        onInput={(text) => onChange('name', text)}
      />
      <Field
        name="groups"
        label={words.groups}
        hint={words.groupsHint}
        value={draft.groups}
        onInput={(text) => onChange('groups', text)}
        exact
        isCode
      />
      <Field
        name="people"
        label={words.people}
        hint={words.peopleHint}
        value={draft.people}
        onInput={(text) => onChange('people', text)}
        exact
      />
    </>
  )
}
