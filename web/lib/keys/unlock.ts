import type { DeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { ApiError, NetworkError, call } from '../api/call.ts'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'

/** The poll interval of both devices of a device approval. Each waits for the other, and either can cancel. */

const restMilliseconds = 1000

/** Polls an approval until `find` returns a value. Throws once the approval is over or the wait is aborted. */
export async function waitForApproval<Found>(
  approvalId: string,
  find: (approval: DeviceApproval) => Found | null,
  signal: AbortSignal,
): Promise<Found> {
  for (;;) {
    signal.throwIfAborted()
    const approval = await readApproval(approvalId)
    const found = approval && find(approval)
    if (found !== undefined && found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, restMilliseconds))
  }
}

/** Returns undefined if the network is temporarily unavailable. */
function readApproval(approvalId: string): Promise<DeviceApproval | undefined> {
  const params = { approvalId }
  return call('GET /api/account/device-approvals/:approvalId', { params }).catch((error: unknown) => {
    if (!(error instanceof NetworkError)) throw error
    return undefined
  })
}

/** Cancels an approval. It is not an error if the approval is already over. */
export async function cancelApproval(approvalId: string): Promise<void> {
  await call('DELETE /api/account/device-approvals/:approvalId', { params: { approvalId } }).catch((error: unknown) => {
    if (!isOver(error)) throw error
  })
}

/** Returns whether an approval has expired, was canceled, or ended with the session that requested it. */
export function isOver(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'device_approval_not_found'
}

/** Returns the passkeys that unlock a key wrap. */
export function openersOf(keyWraps: KeyWrap[]): string[] {
  return keyWraps.flatMap(({ kind, credentialId }) => (kind === 'passkey_prf' ? (credentialId ?? []) : []))
}
