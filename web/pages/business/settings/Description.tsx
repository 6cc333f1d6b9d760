import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useDraft } from '../../../components/form/draft.ts'
import { Field } from '../../../components/form/Field.tsx'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { changeOf, draftOf, faultsOf, type Draft } from './organization-draft.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Name, slug and logo: what others see of an organization. */
export function Description({ organization, onChanged }: Props) {
  const words = useBusinessWords()
  const doing = useDoing()
  const { draft, faults, saved, write, keep } = useDraft(() => draftOf(organization), faultsOf)
  const problemOf = (field: keyof Draft) => (faults.has(field) ? words.invalid[field] : undefined)
  const save: Action = {
    name: 'save-organization',
    label: words.save,
    do: () =>
      keep(async () => {
        const body = changeOf(organization, draft)
        if (Object.keys(body).length === 0) return
        const given = { ...asMember(organization), body }
        const changed = await act('PATCH /api/organizations/:organizationId', given)
        onChanged(changed.organization)
      }),
  }
  return (
    <>
      <ActionForm submit={save} doing={doing}>
        <Field
          name="name"
          label={words.name}
          value={draft.name}
          onInput={(name) => write({ name })}
          problem={problemOf('name')}
        />
        <Field
          name="slug"
          label={words.slug}
          hint={words.slugHint}
          value={draft.slug}
          onInput={(slug) => write({ slug })}
          problem={problemOf('slug')}
          exact
        />
        <Field
          name="logoUrl"
          label={words.logo}
          hint={words.logoHint}
          value={draft.logoUrl}
          onInput={(logoUrl) => write({ logoUrl })}
          problem={problemOf('logoUrl')}
          keys="url"
          exact
        />
      </ActionForm>
      <div role="status">{saved && <p>{words.saved}</p>}</div>
    </>
  )
}
