import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { call } from '../../../lib/api/call.ts'

export async function fetchDelegations(): Promise<Delegation[]> {
  const { delegations } = await call('GET /api/oauth/delegations', {})
  return delegations
}

/**
 * Returns the delegations that end when an app is disconnected: its own as that identity, and those of others at it.
 */
export function delegationsRevokedWith(
  { clientId, identityId }: Authorization,
  delegations: Delegation[],
): Delegation[] {
  return delegations.filter(
    (each) =>
      each.status === 'active' &&
      each.identityId === identityId &&
      (each.sourceAppClientId === clientId || each.targetAppClientId === clientId),
  )
}

/** Finds the delegation that an audit event refers to, if it is still stored. */
export function delegationIn(
  { action, identityId, clientId, details }: ActivityEntry,
  delegations: Delegation[],
): Delegation | undefined {
  if (!action.startsWith('delegation.')) return undefined
  const named = delegations.find(({ id }) => id === details['delegationId'])
  const isBetween = (each: Delegation) =>
    each.identityId === identityId &&
    each.sourceAppClientId === clientId &&
    each.targetResourceKey === details['resourceKey']
  return named ?? delegations.find(isBetween)
}
