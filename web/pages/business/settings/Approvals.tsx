import { limits } from '@countersign/protocol/formats/limits'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type ApprovalsProps = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Sets how many members must approve a signing request, in addition to the member who signs. */
export function Approvals({ organization, onChanged }: ApprovalsProps) {
  const { approvals: words, save: label, saved: done } = useBusinessMessages()
  const doing = useActions()
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
      const given = { ...memberContext(organization), body: { approvalsNeeded } }
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

type RequireSignedActionsProps = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Sets whether admins must sign their changes. */
export function RequireSignedActions({ organization, onChanged }: RequireSignedActionsProps) {
  const { signedActs: words } = useBusinessMessages()
  const doing = useActions()
  const { requireSignedActions } = organization
  const turn: Action = {
    name: requireSignedActions ? 'let-unsigned' : 'require-signed',
    label: requireSignedActions ? words.letUnsigned : words.require,
    look: 'secondary',
    do: async () => {
      const given = { ...memberContext(organization), body: { requireSignedActions: !requireSignedActions } }
      onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
    },
  }
  return (
    <section class="apart">
      <h2>{words.title}</h2>
      <p>{requireSignedActions ? words.required : words.notRequired}</p>
      <Actions of={[turn]} doing={doing} />
    </section>
  )
}
