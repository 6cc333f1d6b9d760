import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail } from '@countersign/protocol/formats/email'
import { isHandle } from '@countersign/protocol/formats/handle'
import type { AdminIdentityChange, AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { isHandleRefused } from '../../../lib/text/identity-draft.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import type { Messages } from '../../../locales/messages.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { usePeopleMessages } from './words.ts'

type Props = {
  identity: AdminIdentityDetails
  /** Called if another operator or the user has changed the identity meanwhile. */
  onStale: () => Promise<unknown>
  /** Called when it is done, with a sentence that says so. */
  onDone: (said: string) => Promise<void>
  onClose: () => void
}

/** What the operator has entered. Anything else is shown as it is now. */
type Draft = { handle?: string; displayName?: string; email?: string }

/** Changes the username, the name and the e-mail address of an identity. */
export function EditIdentity({ identity, onStale, onDone, onClose }: Props) {
  const { edit, ...words } = usePeopleMessages()
  const { register } = useMessages()
  const { ask } = useOperator()
  const [draft, setDraft] = useState<Draft>({})
  const [taken, setTaken] = useState<string[]>([])
  const [isChecked, setChecked] = useState(false)
  const { identityId, version } = identity
  const shown = { ...valuesOf(identity), ...draft }
  const change = changeOf(identity, draft)
  const problems = {
    handle: handleProblem(shown.handle, taken, register),
    displayName: isDisplayName(shown.displayName) ? undefined : register.displayNameInvalid,
    email: shown.email === '' || isEmail(shown.email) ? undefined : edit.emailInvalid,
  }
  const isValid = Object.values(problems).every((problem) => problem === undefined)
  const act = {
    name: 'save-identity',
    label: edit.save,
    asleep: Object.keys(change).length === 0,
    do: async () => {
      setChecked(true)
      if (!isValid || Object.keys(change).length === 0) return
      try {
        const headers = { 'if-match': `"${version}"` }
        await ask('PATCH /api/admin/identities/:identityId', { params: { identityId }, headers, body: change })
      } catch (error) {
        if (isHandleRefused(error)) return setTaken([...taken, shown.handle])
        if (error instanceof ApiError && error.code === 'version_mismatch') await onStale()
        throw error
      }
      onClose()
      await onDone(edit.done(isolate(shown.displayName)))
    },
  }
  const field = (name: keyof Draft) => ({
    name,
    value: shown[name],
    onInput: (typed: string) => setDraft({ ...draft, [name]: typed }),
    problem: isChecked ? problems[name] : undefined,
    autocomplete: 'off',
  })
  return (
    <Ask
      title={edit.title(isolate(identity.displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'edit', identity.handle, ...optionsOf(change)]}
    >
      <Field {...field('handle')} label={register.handle} hint={edit.handleHint} prefix="@" exact />
      <Field {...field('displayName')} label={register.displayName} />
      <Field {...field('email')} label={words.email} hint={edit.emailHint} keys="email" exact />
    </Ask>
  )
}

function handleProblem(handle: string, taken: string[], words: Messages['register']): string | undefined {
  if (!isHandle(handle)) return words.handleRule
  return taken.includes(handle) ? words.handleTaken : undefined
}

function valuesOf({ handle, displayName, email }: AdminIdentityDetails): Required<Draft> {
  return { handle, displayName, email: email ?? '' }
}

/** Returns what differs from the identity as it is now. An empty address removes it. */
function changeOf(identity: AdminIdentityDetails, { handle, displayName, email }: Draft): AdminIdentityChange {
  const now = valuesOf(identity)
  return {
    ...(handle !== undefined && handle.trim() !== now.handle && { handle: handle.trim() }),
    ...(displayName !== undefined && displayName.trim() !== now.displayName && { displayName: displayName.trim() }),
    ...(email !== undefined && email.trim() !== now.email && { email: email.trim() || null }),
  }
}

function optionsOf({ handle, displayName, email }: AdminIdentityChange): string[] {
  return [
    ...(handle === undefined ? [] : ['--username', handle]),
    ...(displayName === undefined ? [] : ['--name', displayName]),
    ...(email === undefined ? [] : email === null ? ['--no-email'] : ['--email', email]),
  ]
}
