import { slugPattern } from '@countersign/protocol/formats/domain'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isObject } from '@countersign/protocol/formats/json'
import type { OwnOrganization, OrganizationChange } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useDraft } from '../../../components/form/draft.ts'
import { Field } from '../../../components/form/Field.tsx'
import { act } from '../session/acts.ts'
import { isText, rebaseValue, useKeptState } from '../session/kept-input.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Edits the public details of an organization: name and slug. */
export function OrganizationDetails({ organization, onChanged }: Props) {
  const words = useBusinessMessages()
  const doing = useActions()
  // Another admin may change the organization: only what differs from here is sent.
  const [start, setStart] = useState(draftOf(organization))
  const [kept, keep] = useKeptState('details.draft', start, isDraft, rebaseDraft)
  const { draft, faults, saved, write, submit } = useDraft(() => kept, validateDraft)
  useEffect(() => keep(draft), [draft])
  const problemOf = (field: keyof Draft) => (faults.has(field) ? words.invalid[field] : undefined)
  const save: Action = {
    name: 'save-organization',
    label: words.save,
    do: () =>
      submit(async () => {
        const body = diffDraft(start, draft)
        if (Object.keys(body).length === 0) return undefined
        const given = { ...memberContext(organization), body }
        const changed = await act('PATCH /api/organizations/:organizationId', given)
        onChanged(changed.organization)
        const next = draftOf(changed.organization)
        setStart(next)
        return next
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
      </ActionForm>
      <div role="status">{saved && <p>{words.saved}</p>}</div>
    </>
  )
}

/** The input for the details of an organization. */
export type Draft = { name: string; slug: string }

function isDraft(value: unknown): value is Draft {
  return isObject(value) && isText(value['name']) && isText(value['slug'])
}

function rebaseDraft(draft: Draft, before: Draft, present: Draft): Draft {
  return {
    name: rebaseValue(draft.name, before.name, present.name),
    slug: rebaseValue(draft.slug, before.slug, present.slug),
  }
}

export function draftOf({ name, slug }: OwnOrganization): Draft {
  return { name, slug }
}

export function validateDraft({ name, slug }: Draft): Set<keyof Draft> {
  const faults = new Set<keyof Draft>()
  if (!isDisplayName(name)) faults.add('name')
  if (!new RegExp(slugPattern).test(slug)) faults.add('slug')
  return faults
}

/** Returns the fields that a draft changes, compared with the one that it began as. */
export function diffDraft(start: Draft, { name, slug }: Draft): OrganizationChange {
  return {
    ...(name !== start.name && { name }),
    ...(slug !== start.slug && { slug }),
  }
}
