import { limits } from '@countersign/protocol/formats/limits'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** How many members must approve, beside whoever signs, before the organization has signed. */
export function Approvals({ organization, onChanged }: Props) {
  const { approvals: words, save: label, saved: done } = useBusinessWords()
  const doing = useDoing()
  const [written, setWritten] = useState(String(organization.approvalsNeeded))
  const [problem, setProblem] = useState<string>()
  const [saved, setSaved] = useState(false)
  const save: Action = {
    name: 'save-approvals',
    label,
    look: 'secondary',
    async do() {
      const approvalsNeeded = Number(written)
      const fits = /^[0-9]+$/.test(written) && approvalsNeeded <= limits.approvalsNeededMax
      setSaved(false)
      setProblem(fits ? undefined : words.invalid(limits.approvalsNeededMax))
      if (!fits) return
      const given = { ...asMember(organization), body: { approvalsNeeded } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
      setSaved(true)
    },
  }
  return (
    <section class="apart">
      <h2>{words.title}</h2>
      <ActionForm submit={save} doing={doing}>
        <Field
          name="approvalsNeeded"
          label={words.needed}
          hint={words.neededHint}
          value={written}
          onInput={setWritten}
          problem={problem}
          keys="numeric"
          exact
        />
      </ActionForm>
      <div role="status">{saved && <p>{done}</p>}</div>
    </section>
  )
}
