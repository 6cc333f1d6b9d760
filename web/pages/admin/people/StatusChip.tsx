import type { AdminIdentity } from '@countersign/protocol/operations/people'
import { Chip } from '../../../components/ui/Chip.tsx'
import { usePeopleMessages } from './words.ts'

/** Says whether an operator has suspended an identity, or will delete it. */
export function StatusChip({ status }: Pick<AdminIdentity, 'status'>) {
  const words = usePeopleMessages()
  return status === 'active' ? (
    <Chip tone="ok">{words.statuses.active}</Chip>
  ) : (
    <Chip tone="bad" icon={status === 'suspended' ? 'ban' : 'trash'}>
      {words.statuses[status]}
    </Chip>
  )
}
