import type { InvitationVoidReason } from '@countersign/protocol/accounts/invitations'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'

type Standing = { maxUses: number; groups: readonly { protected: boolean }[]; held: readonly Permission[] }

/**
 * Returns why an invitation is void: the operator who invites may no longer do that, or change its groups as they are
 * now. One may have become protected. Returns null if it counts.
 */
export function voidReasonOf({ maxUses, groups, held }: Standing): InvitationVoidReason | null {
  const required: Permission[] = groups.length > 0 ? ['people.invite', 'groups.manage'] : ['people.invite']
  if (!required.every((permission) => held.includes(permission))) return 'rights_lost'
  if (!groups.some((group) => group.protected)) return null
  return maxUses === 1 && held.includes('operators.manage') ? null : 'group_protected'
}
