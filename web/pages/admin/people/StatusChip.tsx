import type { AdminIdentity } from '@countersign/protocol/operations/people'
import { Chip } from '../../../components/ui/Chip.tsx'
import { usePeopleMessages } from './words.ts'

const icons = { invited: 'mail', suspended: 'ban', recovering: 'key-round', deletion_scheduled: 'trash' } as const

/** Says whether an operator has invited an identity, has suspended it, recovers it, or will delete it. */
export function StatusChip({ status }: Pick<AdminIdentity, 'status'>) {
  const words = usePeopleMessages()
  return status === 'active' ? (
    <Chip tone="ok">{words.statuses.active}</Chip>
  ) : (
    <Chip tone={status === 'recovering' || status === 'invited' ? 'wait' : 'bad'} icon={icons[status]}>
      {words.statuses[status]}
    </Chip>
  )
}
