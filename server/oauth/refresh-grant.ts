import { scopesOf } from '@countersign/protocol/formats/scope'
import { requireProof, type Client } from '#apps/client-authentication.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { findLineageOfRefresh, revokeForReuse, rotateRefresh, type Issued, type Redeeming } from '#tokens/lineage.ts'
import { requireAllowedScopes } from './scope.ts'
import type { Refreshment } from './token-request.ts'

const refuse = refusals({
  invalid_grant: [400, 'The refresh token is unknown, expired, spent, revoked, or not yours.'],
  invalid_scope: [400, 'A refresh can narrow the granted scope, not widen it.'],
})

/**
 * Rotates a refresh token (RFC 6749 §6, RFC 9700 §4.14). Refuses `invalid_client`, `invalid_grant`, `invalid_scope`.
 * A spent token that comes again, but for the ten seconds of a lost response, ends its lineage and no other.
 */
export async function refresh(
  { kernel: { db }, redeeming }: { kernel: Kernel; redeeming: Redeeming },
  client: Client,
  wanted: Refreshment,
  now: Date,
): Promise<Issued> {
  const { app } = client
  if (!app.isPublic) requireProof(client)
  const narrowed = wanted.scope === undefined ? undefined : requireAllowedScopes(wanted.scope, app)
  const issued = await rotateRefresh(redeeming, app, { refreshToken: wanted.refreshToken, narrowed }, now)
  if (issued) return issued

  const found = await findLineageOfRefresh(db, wanted.refreshToken, now)
  if (!found || found.lineage.clientId !== app.clientId || found.lineage.revokedAt !== null)
    throw refuse.invalid_grant()
  if (found.reused) {
    await revokeForReuse(db, found.lineage, now)
    throw refuse.invalid_grant()
  }
  if (scopesOf(wanted.scope ?? '').some((scope) => !found.lineage.scope.includes(scope))) throw refuse.invalid_scope()
  throw refuse.invalid_grant()
}
