import type { Council } from '@countersign/protocol/organizations/council'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Spinner } from '../../../components/display/Facts.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'
import { useCouncilMessages } from './words.ts'

/** The council of an organization that the user has left: its signatories can still veto its end. */
export function FormerSignatory({
  organizationId,
  otherwise,
}: {
  organizationId: string
  otherwise: ComponentChildren
}) {
  const { retry } = useBusinessMessages()
  const { reset: words } = useCouncilMessages()
  const { language } = useLocale()
  const doing = useActions()
  const [council, setCouncil] = useState<Council | 'none'>()
  const [vetoed, setVetoed] = useState(false)
  const params = { organizationId }
  const read: Action = { name: 'retry', label: retry, do: async () => setCouncil(await readCouncil(organizationId)) }
  useEffect(() => void doing.perform(read), [])
  if (council === undefined) return doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />
  const { resetPossibleAt, resetExpiresAt, isSignatory } = council === 'none' ? none : council
  if (resetPossibleAt === null || resetExpiresAt === null || !isSignatory) return <>{otherwise}</>
  const day = (instant: string) => dayOf(instant, language, new Date())
  const veto: Action = {
    name: 'veto-reset',
    label: words.veto,
    do: async () => {
      await callBusiness('DELETE /api/organizations/:organizationId/council/reset', { params })
      setVetoed(true)
    },
  }
  return (
    <section class="step">
      <StepHeading>{words.formerTitle}</StepHeading>
      <p>{words.formerWhat}</p>
      <p role="status">{vetoed ? words.vetoed : words.pending(day(resetPossibleAt), day(resetExpiresAt))}</p>
      <Actions of={vetoed ? [] : [veto]} doing={doing} />
    </section>
  )
}

const none = { resetPossibleAt: null, resetExpiresAt: null, isSignatory: false }

async function readCouncil(organizationId: string): Promise<Council | 'none'> {
  try {
    const given = { params: { organizationId }, querystring: {} }
    return (await callBusiness('GET /api/organizations/:organizationId/council', given)).council
  } catch (error) {
    if (error instanceof ApiError && error.code === 'organization_not_found') return 'none'
    throw error
  }
}
