import { problemsOf, type IdentityDraft } from '../../lib/text/identity-draft.ts'
import { Field } from './Field.tsx'
import { useWords } from '../frame/Root.tsx'

type Props = { draft: IdentityDraft; checked: boolean; onChange: (draft: IdentityDraft) => void }

/** The two fields of a new identity. What is wrong is said once the person tries to go on, not while they type. */
export function IdentityFields({ draft, checked, onChange }: Props) {
  const words = useWords()
  const problems = problemsOf(draft, words)
  return (
    <>
      <Field
        name="handle"
        label={words.register.handle}
        hint={words.register.handleHint}
        value={draft.handle}
        onInput={(handle) => onChange({ ...draft, handle: handle.trim() })}
        problem={checked ? problems.handle : undefined}
        autocomplete="username"
        exact
      />
      <Field
        name="displayName"
        label={words.register.displayName}
        value={draft.displayName}
        onInput={(displayName) => onChange({ ...draft, displayName })}
        problem={checked ? problems.displayName : undefined}
        autocomplete="name"
      />
    </>
  )
}
