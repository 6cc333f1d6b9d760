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
import { wordsOf } from '../acting/words-of.ts'
import { hasRole, type RoleView, withRole } from './role-view.ts'
import { useAppsMessages } from './words.ts'

type Props = { clientId: string; role?: RoleView; onSaved: (roles: AppRoles) => void; onClose: () => void }

type Draft = { key: string; name: string; groups: string; people: string }

/** Adds a role of an app, or changes its name and who has it. */
export function EditRole({ clientId, role, onSaved, onClose }: Props) {
  const { roles: words } = useAppsMessages()
  const operator = useOperator()
  const [draft, setDraft] = useState<Draft>({
    key: role?.key ?? '',
    name: role?.displayName ?? '',
    groups: role?.groups.join(' ') ?? '',
    people: role?.handles.map(atHandle).join(' ') ?? '',
  })
  const [isChecked, setChecked] = useState(false)
  const [takenKey, setTakenKey] = useState<string>()
  const { key } = draft
  const displayName = draft.name.trim() || key
  const [groups, people] = [wordsOf(draft.groups), wordsOf(draft.people)]
  const isValid = isKey(key)
  const act = {
    name: 'save-role',
    label: words.save,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const identities: string[] = []
      for (const each of people) identities.push(await findIdentityId(operator, each))
      const params = { clientId }
      const before = await operator.ask('GET /api/admin/apps/:clientId/roles', { params })
      if (role === undefined && hasRole(before, key)) return setTakenKey(key)
      const body = withRole(before, { key, displayName, groups, identities })
      onSaved(await operator.ask('PUT /api/admin/apps/:clientId/roles', { params, body }))
      onClose()
      toast(words.saved(isolate(displayName)))
    },
  }
  const invalidKey = isValid ? undefined : words.keyProblem
  const isTaken = role === undefined && key === takenKey
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
        onChange={(changed) => setDraft({ ...draft, ...changed })}
      />
    </Ask>
  )
}

type FieldsProps = {
  draft: Draft
  isNew: boolean
  problem: string | undefined
  onChange: (changed: Partial<Draft>) => void
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
          onInput={(key) => onChange({ key })}
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
        onInput={(name) => onChange({ name })}
      />
      <Field
        name="groups"
        label={words.groups}
        hint={words.groupsHint}
        value={draft.groups}
        onInput={(groups) => onChange({ groups })}
        exact
        isCode
      />
      <Field
        name="people"
        label={words.people}
        hint={words.peopleHint}
        value={draft.people}
        onInput={(people) => onChange({ people })}
        exact
      />
    </>
  )
}
