import { limits } from '@countersign/protocol/formats/limits'
import type { UserId } from '@countersign/protocol/ids'
import { type IdentityRow, listIdentities, verifiedEmailOf } from '#accounts/identities/identity.ts'
import { ApiError } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { keysResetMail, recoveredMail, recoveryNoticeMail } from './recovery-mails.ts'

/**
 * Returns the address that may get a recovery link: one that the user chose, and verified long enough ago. An
 * invitation proves an address that someone else chose.
 */
export function recoveryAddressOf(identity: IdentityRow, now: Date): string | null {
  const { recoveryEmailSince: since } = identity
  const isOld = since !== null && since <= addSeconds(now, -limits.recoveryAddressVerifiedSeconds)
  return isOld ? verifiedEmailOf(identity) : null
}

/** Notifies the other verified addresses of a user of a link. Each can stop the recovery. */
export function notifyOthers(
  kernel: ServerContext,
  { userId, except, stop }: { userId: UserId; except: string; stop: string },
): Promise<void> {
  const { authUrl, brand } = kernel.config
  return notify(kernel, { userId, except }, (about) => recoveryNoticeMail({ ...about, authUrl, brand, stop }))
}

/** Notifies all verified addresses of a user that a recovery is completed. */
export function notifyOfCompletion(kernel: ServerContext, userId: UserId): Promise<void> {
  const { authUrl, brand } = kernel.config
  return notify(kernel, { userId, except: null }, (about) => recoveredMail({ ...about, authUrl, brand }))
}

/** Notifies all verified addresses of a user that the keys of the account were reset. */
export function notifyOfKeyReset(kernel: ServerContext, userId: UserId): Promise<void> {
  const { authUrl, brand } = kernel.config
  return notify(kernel, { userId, except: null }, (about) => keysResetMail({ ...about, authUrl, brand }))
}

type Receivers = { userId: UserId; except: string | null }

/**
 * Sends a mail to each verified address of a user. It names the identity that has the address, not the one that is
 * recovered. What it tells of is done, so a failure to send is only logged.
 */
async function notify(
  { db, mail, log }: ServerContext,
  { userId, except }: Receivers,
  build: (about: { to: string; handle: string }) => Mail,
): Promise<void> {
  const handles = new Map<string, string>()
  for (const identity of await listIdentities(db, userId)) {
    const to = verifiedEmailOf(identity)
    if (to !== null && to !== except) handles.set(to, identity.handle)
  }
  for (const [to, handle] of handles) {
    try {
      await mail.send(build({ to, handle }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      log.warn({ userId, reason: error.code }, 'notice of a recovery failed')
    }
  }
}
