import type { NewDemoRequest } from '@countersign/protocol/signing/signing'
import { playgroundClientId } from '#clients/registration/built-in-app.ts'
import { findByHandle } from '#accounts/identities/identity.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { openRequest } from '#signing/requests/request.ts'

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
