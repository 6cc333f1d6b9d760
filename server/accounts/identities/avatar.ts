import type { Identity } from '@countersign/protocol/accounts/identities'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { pictureUrl, removePicture, renderUpload, replacePicture } from '#platform/pictures/picture.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { recordEdit } from '#accounts/app-events/event.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { type IdentityRow, lockOwnIdentity, requireOwnIdentity, toIdentity } from './identity.ts'
import * as store from './store.ts'

type OwnIdentity = { acting: PasskeySession; identityId: IdentityId }

/**
 * Makes an uploaded picture that of an identity. Throws `identity_not_found`, `rate_limited`, and the errors of
 * `renderUpload`.
 */
export async function setAvatar(
  { db, rateLimits, config, workshop }: ServerContext & { workshop: Workshop },
  { acting, identityId, bytes }: OwnIdentity & { bytes: Buffer },
  now: Date,
): Promise<Identity> {
  await rateLimits.count('profile-changes-per-user', ownKey(acting, now))
  await requireOwnIdentity(db, acting, identityId, now)
  const rendered = await renderUpload(workshop, acting.userId, 'identity', bytes)
  return actingTransaction(db, acting, async (tx) => {
    const before = await lockOwnIdentity(tx, acting, identityId, now)
    const pictureId = await replacePicture(tx, { kind: 'identity', id: identityId }, rendered, now)
    return updateAvatar(tx, { acting, before }, pictureUrl(config.baseUrl, pictureId), now)
  })
}

/** Removes the picture of an identity, uploaded or not. Throws `identity_not_found`, `rate_limited`. */
export async function removeAvatar(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  { acting, identityId }: OwnIdentity,
  now: Date,
): Promise<Identity> {
  await rateLimits.count('profile-changes-per-user', ownKey(acting, now))
  return actingTransaction(db, acting, async (tx) => {
    const before = await lockOwnIdentity(tx, acting, identityId, now)
    if (before.avatarUrl === null) return toIdentity(before)
    await removePicture(tx, identityId)
    return updateAvatar(tx, { acting, before }, null, now)
  })
}

async function updateAvatar(
  tx: Transaction,
  { acting, before }: { acting: PasskeySession; before: IdentityRow },
  avatarUrl: string | null,
  now: Date,
): Promise<Identity> {
  const { identityId } = before
  const after = await store.updateIdentity(tx, { identityId, avatarUrl }, now)
  await recordEdit(tx, { identityId, by: 'self', before, after }, now)
  const { userId } = acting
  await recordAuditEvent(tx, { action: 'identity.updated', actor: 'user', userId, identityId }, now)
  return toIdentity(after)
}
