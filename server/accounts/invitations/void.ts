import type { InvitationVoidReason } from '@countersign/protocol/accounts/invitations'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'

type Protectable = { protected: boolean }
type Standing = {
  kind: string
  maxUses: number
  groups: readonly Protectable[]
  /** Groups that its invited identity joins, also those that a directory names. */
  identityGroups: readonly Protectable[]
  held: readonly Permission[]
}

/**
 * Returns why an invitation is void: the operator who invites may no longer do that, or change its groups as they are
 * now. One may have become protected. A link needs the same rights for a protected group of a directory, since its
 * holder joins; a mail reaches the address that the directory names. Returns null if it counts.
 */
export function voidReasonOf({ kind, maxUses, groups, identityGroups, held }: Standing): InvitationVoidReason | null {
  const required: Permission[] = groups.length > 0 ? ['people.invite', 'groups.manage'] : ['people.invite']
  if (!required.every((permission) => held.includes(permission))) return 'rights_lost'
  const joined = kind === 'link' ? [...groups, ...identityGroups] : groups
  if (!joined.some((group) => group.protected)) return null
  return maxUses === 1 && held.includes('operators.manage') ? null : 'group_protected'
}
