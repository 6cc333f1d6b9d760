import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { readLocal, writeLocal } from '../../../lib/remembered.ts'

/** How long after a recovery the passkeys from before are to be reviewed. */
const reviewDays = 30
const dayMilliseconds = 24 * 60 * 60_000

/** The local storage key of the recovery after which the user has kept all passkeys. */
const keptKey = 'passkeys-kept'

/** Returns whether one of several passkeys is so new that a recovery may have added it. */
export function mayBeRecovered(passkeys: Passkey[], now: Date): boolean {
  return passkeys.length > 1 && passkeys.some(({ createdAt }) => isRecent(createdAt, now))
}

/** Lists the passkeys from before a recent recovery: they may be on a lost device. */
export function formerPasskeys(passkeys: Passkey[], recoveredAt: string | null, now: Date): Passkey[] {
  if (recoveredAt === null || !isRecent(recoveredAt, now)) return []
  return passkeys.filter(({ createdAt }) => Date.parse(createdAt) < Date.parse(recoveredAt))
}

/** Returns whether the user has said in this browser, after this recovery, that they keep all passkeys. */
export function areKept(recoveredAt: string | null): boolean {
  return recoveredAt !== null && readLocal(keptKey) === recoveredAt
}

export function keepAll(recoveredAt: string): void {
  writeLocal(keptKey, recoveredAt)
}

function isRecent(instant: string, now: Date): boolean {
  return now.getTime() - Date.parse(instant) < reviewDays * dayMilliseconds
}
