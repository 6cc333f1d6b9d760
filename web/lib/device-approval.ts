/** What the two devices of an approval have in common: each waits for the other, and either may put an end to it. */
import type { DeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { call, Refused, Unreachable } from './call.ts'

const restMilliseconds = 1000

/** Waits until an approval has come as far as `find` looks for. Throws once it is over, or nobody waits any more. */
export async function untilApproval<Found>(
  approvalId: string,
  find: (approval: DeviceApproval) => Found | null,
  gone: AbortSignal,
): Promise<Found> {
  for (;;) {
    gone.throwIfAborted()
    const approval = await readApproval(approvalId)
    const found = approval && find(approval)
    if (found !== undefined && found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, restMilliseconds))
  }
}

/** Undefined where the network is away for a moment. */
function readApproval(approvalId: string): Promise<DeviceApproval | undefined> {
  const params = { approvalId }
  return call('GET /api/account/device-approvals/:approvalId', { params }).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error
    return undefined
  })
}

/** Puts an end to an approval; one that is over already is none. */
export async function withdrawApproval(approvalId: string): Promise<void> {
  await call('DELETE /api/account/device-approvals/:approvalId', { params: { approvalId } }).catch((error: unknown) => {
    if (!isOver(error)) throw error
  })
}

/** Whether an approval has expired, was withdrawn, or ended with the session that asked. */
export function isOver(error: unknown): boolean {
  return error instanceof Refused && error.code === 'approval_not_found'
}
