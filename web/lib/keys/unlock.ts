import type { DeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { ApiError, NetworkError, call } from '../api/call.ts'
import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { reauthenticate } from './passkey.ts'

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

/** The key wraps, and the master key if a passkey has unlocked one of them. */
export type Opened = { keyWraps: KeyWrap[]; masterKey?: MasterKey }

/** Unlocks the master key with a passkey. The same assertion re-authenticates the user. */
export async function unlockKeys(userId: string): Promise<Opened> {
  const [vault, { keyWraps }] = await Promise.all([import('./key-vault.ts'), call('GET /api/account/key-wraps', {})])
  const credentialIds = openersOf(keyWraps)
  if (credentialIds.length === 0) return { keyWraps }
  const used = await reauthenticate(await vault.prfSalt(), { credentialIds })
  const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}

/** Returns the passkeys that unlock a key wrap. */
export function openersOf(keyWraps: KeyWrap[]): string[] {
  return keyWraps.flatMap(({ kind, credentialId }) => (kind === 'passkey_prf' ? (credentialId ?? []) : []))
}
