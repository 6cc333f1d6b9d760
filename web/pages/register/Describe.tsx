import { useState } from 'preact/hooks'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'
import { addressWithReturn } from '../../lib/return-address.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import type { Action, Doing } from '../../components/form/doing.ts'
import { IdentityFields } from '../../components/form/IdentityFields.tsx'
import { useWords } from '../../components/frame/Root.tsx'

type Props = {
  draft: IdentityDraft
  onChange: (draft: IdentityDraft) => void
  returnTo: string
  doing: Doing
  onCreate: () => Promise<void>
}

export function Describe({ draft, onChange, returnTo, doing, onCreate }: Props) {
  const words = useWords().register
  const [checked, setChecked] = useState(false)
  const create: Action = {
    name: 'create-account',
    label: words.create,
    do: () => {
      setChecked(true)
      return onCreate()
    },
  }
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <ActionForm submit={create} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={onChange} />
      </ActionForm>
      <p class="otherwise">
        {words.haveAccount} <a href={addressWithReturn('/login', returnTo)}>{words.login}</a>
      </p>
    </section>
  )
}
