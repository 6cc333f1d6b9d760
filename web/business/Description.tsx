import type { OwnOrganization } from '@countersign/protocol/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Field } from '../ui/Field.tsx'
import { asMember } from './memberships.ts'
import { changeOf, draftOf, faultsOf, type Draft } from './organization-draft.ts'
import { callBusiness } from './session.ts'
import { useBusinessWords } from './words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Name, slug and logo: what others see of an organization. */
export function Description({ organization, onChanged }: Props) {
  const words = useBusinessWords()
  const doing = useDoing()
  const [draft, setDraft] = useState(() => draftOf(organization))
  const [checked, setChecked] = useState(false)
  const [saved, setSaved] = useState(false)
  const faults = faultsOf(draft)
  const set = (change: Partial<Draft>) => {
    setSaved(false)
    setDraft({ ...draft, ...change })
  }
  const problemOf = (field: keyof Draft) => (checked && faults.has(field) ? words.invalid[field] : undefined)
  const save: Action = {
    name: 'save-organization',
    label: words.save,
    do: async () => {
      setChecked(true)
      setSaved(false)
      if (faults.size > 0) return
      const body = changeOf(organization, draft)
      if (Object.keys(body).length > 0) {
        const given = { ...asMember(organization), body }
        const changed = await callBusiness('PATCH /api/organizations/:organizationId', given)
        onChanged(changed.organization)
      }
      setSaved(true)
    },
  }
  return (
    <>
      <ActionForm submit={save} doing={doing}>
        <Field
          name="name"
          label={words.name}
          value={draft.name}
          onInput={(name) => set({ name })}
          problem={problemOf('name')}
        />
        <Field
          name="slug"
          label={words.slug}
          hint={words.slugHint}
          value={draft.slug}
          onInput={(slug) => set({ slug })}
          problem={problemOf('slug')}
          exact
        />
        <Field
          name="logoUrl"
          label={words.logo}
          hint={words.logoHint}
          value={draft.logoUrl}
          onInput={(logoUrl) => set({ logoUrl })}
          problem={problemOf('logoUrl')}
          keys="url"
          exact
        />
      </ActionForm>
      <div role="status">{saved && <p>{words.saved}</p>}</div>
    </>
  )
}
