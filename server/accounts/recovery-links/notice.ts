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

/**
 * Notifies the other verified addresses of a user of a link. Each can stop the recovery. The operator who mails the
 * link does not wait for these mails: the time would tell how many siblings have an address.
 */
export async function notifyOthers(
  kernel: ServerContext,
  { userId, except, stop }: { userId: UserId; except: string; stop: string },
): Promise<void> {
  const { authUrl, brand } = kernel.config
  const receivers = (await listReceivers(kernel, userId)).filter(({ to }) => to !== except)
  void notify(kernel, receivers, (about) => recoveryNoticeMail({ ...about, authUrl, brand, stop })).catch(
    (error: unknown) => kernel.log.error({ error }, 'notices of a recovery not sent'),
  )
}

/** Notifies all verified addresses of a user that a recovery is completed. */
export async function notifyOfCompletion(kernel: ServerContext, userId: UserId): Promise<void> {
  const { authUrl, brand } = kernel.config
  const receivers = await listReceivers(kernel, userId)
  return notify(kernel, receivers, (about) => recoveredMail({ ...about, authUrl, brand }))
}

/** Notifies all verified addresses of a user that the keys of the account were reset. */
export async function notifyOfKeyReset(kernel: ServerContext, userId: UserId): Promise<void> {
  const { authUrl, brand } = kernel.config
  const receivers = await listReceivers(kernel, userId)
  return notify(kernel, receivers, (about) => keysResetMail({ ...about, authUrl, brand }))
}

/** A verified address, and the identity that has it. */
type Receiver = { to: string; handle: string }

async function listReceivers({ db }: ServerContext, userId: UserId): Promise<Receiver[]> {
  const handles = new Map<string, string>()
  for (const identity of await listIdentities(db, userId)) {
    const to = verifiedEmailOf(identity)
    if (to !== null) handles.set(to, identity.handle)
  }
  return [...handles].map(([to, handle]) => ({ to, handle }))
}

/**
 * Sends a mail to each receiver. It names the identity that has the address, not the one that is recovered. What it
 * tells of is done, so a failure to send is only logged, without anything that the identities of a user share.
 */
async function notify(
  { mail, log }: ServerContext,
  receivers: Receiver[],
  build: (about: Receiver) => Mail,
): Promise<void> {
  for (const receiver of receivers) {
    try {
      await mail.send(build(receiver))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      log.warn({ reason: error.code }, 'notice of a recovery failed')
    }
  }
}
