import type { Council } from '@countersign/protocol/organizations/council'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { dayOf } from '../../../lib/text/dates.ts'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'
import { useCouncilMessages } from './words.ts'
import { Card } from '../../../components/ui/Card.tsx'

const path = '/api/organizations/:organizationId/council/reset'

type Props = { organization: OwnOrganization; council: Council; onChanged: () => unknown }

/** The end of a council without approvals: requested and completed by an owner, vetoed by any signatory. */
export function Reset({ organization, council, onChanged }: Props) {
  const { reset: words } = useCouncilMessages()
  const { language } = useLocale()
  const doing = useActions()
  const day = (instant: string) => dayOf(instant, language, new Date())
  const { approvalsNeeded, resetAt, resetPossibleAt, resetExpiresAt, isSignatory } = council
  const given = memberContext(organization)
  const isOwner = organization.role === 'owner'
  const isPending = resetPossibleAt !== null && resetExpiresAt !== null
  const isPossible = isPending && Date.parse(resetPossibleAt) <= Date.now()
  const request: Action = {
    name: 'request-reset',
    label: words.request,
    look: 'secondary',
    do: () => act(`POST ${path}`, { ...given, body: null }),
  }
  const complete: Action = {
    name: 'complete-reset',
    label: words.complete,
    look: 'secondary',
    do: () => act(`POST ${path}/completion`, { ...given, body: null }),
  }
  const veto: Action = {
    name: 'veto-reset',
    label: words.veto,
    do: async () => {
      await callBusiness(`DELETE ${path}`, { params: given.params })
      await onChanged()
    },
  }
  const actions = [
    ...(isPending && isSignatory ? [veto] : []),
    ...(isOwner && !isPending ? [request] : []),
    ...(isOwner && isPossible ? [complete] : []),
  ]
  if (approvalsNeeded === 0) return resetAt === null ? null : <p class="soft">{words.happened(day(resetAt))}</p>
  if (!isPending && !isOwner) return null
  return (
    <Card title={words.title}>
      <p>{words.what}</p>
      {isPending && <p class="problem">{words.pending(day(resetPossibleAt), day(resetExpiresAt))}</p>}
      <Actions of={actions} doing={doing} />
    </Card>
  )
}
