import type { AdminIdentityDetails, AdminSuspension } from '@countersign/protocol/operations/people'

type Suspended = Pick<AdminIdentityDetails, 'suspensions'>

/** Returns the suspension that operators can end. */
export function suspensionByOperators({ suspensions }: Suspended): AdminSuspension | undefined {
  return suspensions.find(({ source }) => source === 'operator')
}

/** Checks if a directory suspends an identity too. Only the directory ends that. */
export function isSuspendedByDirectory({ suspensions }: Suspended): boolean {
  return suspensions.some(({ source }) => source !== 'operator')
}
