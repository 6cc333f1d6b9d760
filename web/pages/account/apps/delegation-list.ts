import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { call } from '../../../lib/call.ts'

export async function readDelegations(): Promise<Delegation[]> {
  const { delegations } = await call('GET /api/oauth/delegations', {})
  return delegations
}

/** What ends when an app is disconnected: what it may do at others as that name, and others at it. */
export function endingWith({ clientId, identityId }: Authorization, delegations: Delegation[]): Delegation[] {
  return delegations.filter(
    (each) =>
      each.status === 'active' &&
      each.identityId === identityId &&
      (each.sourceAppClientId === clientId || each.targetAppClientId === clientId),
  )
}

/** Which delegation an entry of the trail is about, where it is about one that is still remembered. */
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
