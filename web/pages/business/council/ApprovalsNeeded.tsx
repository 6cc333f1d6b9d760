import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { act } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { isText, rebaseValue, useKeptState } from '../session/kept-input.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { useCouncilMessages } from './words.ts'

type Props = { organization: OwnOrganization; present: number }

/** Proposes to found the council, to change how many approvals it needs, or to end it with 0. */
export function ApprovalsNeeded({ organization, present }: Props) {
  const { approvals: words } = useBusinessMessages()
  const { found, founding, change } = useCouncilMessages()
  const doing = useActions()
  const [written, setWritten] = useKeptState('approvals.needed', String(present), isText, rebaseValue)
  const [problem, setProblem] = useState<string>()
  const propose: Action = {
    name: 'save-approvals',
    label: present === 0 ? found : change,
    look: 'secondary',
    async do() {
      const approvalsNeeded = Number(written)
      const fits = /^[0-9]+$/.test(written) && approvalsNeeded <= pageLimits.approvalsNeededMax
      setProblem(fits ? undefined : words.invalid(pageLimits.approvalsNeededMax))
      if (!fits || approvalsNeeded === present) return
      await act('PATCH /api/organizations/:organizationId', {
        ...memberContext(organization),
        body: { approvalsNeeded },
      })
    },
  }
  return (
    <>
      {present === 0 ? <p>{founding}</p> : <ApprovalsNote organization={{ approvalsNeeded: present }} />}
      <ActionForm submit={propose} doing={doing}>
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
    </>
  )
}
