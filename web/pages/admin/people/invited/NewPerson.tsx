import { isEmail } from '@countersign/protocol/formats/email'
import { useState } from 'preact/hooks'
import { Field, IdentityFields } from '../../../../components/form/Field.tsx'
import { toast } from '../../../../components/frame/toast.ts'
import { emptyDraft, isComplete, isHandleRefused } from '../../../../lib/text/identity-draft.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { wordsOf } from '../../acting/words-of.ts'
import { useInvitationsMessages } from '../../invitations/words.ts'
import { usePeopleMessages } from '../words.ts'

type Props = {
  /** Called with the link of the invitation, unless it is mailed. */
  onDone: (url: string | undefined) => void
  onClose: () => void
}

/** Adds an identity, and invites its user. */
export function NewPerson({ onDone, onClose }: Props) {
  const words = usePeopleMessages()
  const { groups: groupsLabel, groupsHint } = useInvitationsMessages()
  const { ask, may } = useOperator()
  const [draft, setDraft] = useState(emptyDraft)
  const [typedEmail, setEmail] = useState('')
  const [groups, setGroups] = useState('')
  const [isChecked, setChecked] = useState(false)
  const email = typedEmail.trim()
  const isReachable = email === '' || isEmail(email)
  const { handle, displayName } = draft
  const keys = wordsOf(groups)
  const act = {
    name: 'create-person',
    label: words.create.now,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft) || !isReachable) return
      const body = { handle, displayName, ...(email !== '' && { email }), ...(keys.length > 0 && { groups: keys }) }
      const added = await ask('POST /api/admin/identities', { body }).catch((error: unknown) => {
        if (!isHandleRefused(error)) throw error
        setDraft({ ...draft, taken: [...draft.taken, handle] })
      })
      if (!added) return
      onDone(added.url)
      if (added.url === undefined) toast(words.create.mailed(isolate(email)))
    },
  }
  return (
    <Ask
      title={words.create.title}
      act={act}
      onClose={onClose}
      command={[
        ...['people', 'create', '--username', handle || '…', '--name', displayName || '…'],
        ...(email === '' ? [] : ['--email', email]),
        ...keys.flatMap((key) => ['--group', key]),
      ]}
    >
      <IdentityFields draft={draft} checked={isChecked} onChange={setDraft} isNew takesFocus />
      <Field
        name="email"
        label={words.email}
        hint={words.create.emailHint}
        value={typedEmail}
        onInput={setEmail}
        problem={isChecked && !isReachable ? words.edit.emailInvalid : undefined}
        keys="email"
        autocomplete="off"
        exact
      />
      {may('groups.manage') && (
        <Field
          name="groups"
          label={groupsLabel}
          hint={groupsHint}
          value={groups}
          onInput={setGroups}
          autocomplete="off"
          exact
          isCode
        />
      )}
    </Ask>
  )
}
