import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Note } from '../../../components/ui/Chip.tsx'
import { useBusinessMessages } from '../words.ts'

type Props = { organization: Pick<OwnOrganization, 'approvalsNeeded'>; of?: 'change' | 'permission' }

/**
 * Says before the user begins that the council has a say: others approve a change, or the council admits a member to a
 * permission. Shows nothing where there is no council.
 */
export function ApprovalsNote({ organization: { approvalsNeeded }, of = 'change' }: Props) {
  const { approvals: words } = useBusinessMessages()
  if (approvalsNeeded === 0) return null
  return <Note icon="signature">{of === 'change' ? words.first(approvalsNeeded) : words.admission}</Note>
}
