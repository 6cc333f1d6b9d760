import type { Group } from '@countersign/protocol/accounts/groups'
import { Chip } from '../../../components/ui/Chip.tsx'
import { useOperator } from '../acting/operator.ts'
import { useGroupsMessages } from './words.ts'

/** Says that only owners change a group and its members. */
export function ProtectedChip() {
  const words = useGroupsMessages()
  return <Chip icon="lock">{words.protected.label}</Chip>
}

/** Checks whether operators name the members of a group, and no organization or directory does. */
export function isManual({ organizationId, managedBy }: Pick<Group, 'organizationId' | 'managedBy'>): boolean {
  return organizationId === null && managedBy === null
}

/** Returns what decides whether the operator may change a group and its members. */
export function useMayChangeGroup(): (group: Group) => boolean {
  const { may } = useOperator()
  return (group) => may('groups.manage') && (!group.protected || may('operators.manage'))
}
