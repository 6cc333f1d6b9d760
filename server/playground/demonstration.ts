import type { NewDemoRequest } from '@countersign/protocol/signing'
import { playgroundClientId } from '#apps/built-in-app.ts'
import { findByHandle } from '#identity/identity.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { openRequest } from '#signing/request.ts'

const refuse = refusals({
  invalid_request: [400, 'Give either identityId or handle.'],
  identity_not_found: [404, 'No identity has this handle.'],
})

const pendingMax = 3

/**
 * Asks an identity to sign a demonstration, which everybody may. Refuses `invalid_request`, `reserved_payload`,
 * `identity_not_found`, `no_signing_key`, `rate_limited`, `too_many_pending`.
 */
export async function openDemonstration(
  kernel: Pick<Kernel, 'db' | 'rateLimits'>,
  { handle, ...wanted }: NewDemoRequest,
  now: Date,
) {
  if ((handle === undefined) === (wanted.identityId === undefined)) throw refuse.invalid_request()
  const identityId = wanted.identityId ?? (await findByHandle(kernel.db, handle ?? ''))?.identityId
  if (identityId === undefined) throw refuse.identity_not_found()
  const asker = { clientId: playgroundClientId, ownerUserId: null, pendingMax }
  return openRequest(kernel, asker, { ...wanted, identityId }, now)
}
