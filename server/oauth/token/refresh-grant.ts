import { scopesOf } from '@countersign/protocol/formats/scope'
import { requireProof, type Client } from '#clients/registration/client-authentication.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import {
  findLineageOfRefresh,
  revokeForReuse,
  rotateRefresh,
  type Issued,
  type Lineage,
  type Redeeming,
} from '#tokens/families/family.ts'
import { quoted } from '#oauth/authorize/scope.ts'
import type { Refreshment } from './request.ts'

const refuse = refusals({
  invalid_grant: [400, 'The refresh token is unknown, expired, spent, revoked, or not yours.'],
  invalid_scope: [400, 'A refresh can narrow the granted scope, not widen it.'],
})

/**
 * Rotates a refresh token (RFC 6749 §6, RFC 9700 §4.14). A `scope` narrows the access token alone: the new refresh
 * token keeps what was granted. Refuses `invalid_client`, `invalid_grant`, `invalid_scope`. A spent token that comes
 * again, but for the ten seconds of a lost response, ends its lineage and no other.
 */
export async function refresh(
  { kernel: { db }, redeeming }: { kernel: Kernel; redeeming: Redeeming },
  client: Client,
  wanted: Refreshment,
  now: Date,
): Promise<Issued> {
  const { app } = client
  if (!app.isPublic) requireProof(client)
  const narrowed = wanted.scope === undefined ? undefined : scopesOf(wanted.scope)
  const issued = await rotateRefresh(redeeming, app, { refreshToken: wanted.refreshToken, narrowed }, now)
  if (issued) return issued

  const found = await findLineageOfRefresh(db, wanted.refreshToken, now)
  if (!found || found.lineage.clientId !== app.clientId || found.lineage.revokedAt !== null)
    throw refuse.invalid_grant()
  if (found.reused) {
    await revokeForReuse(db, found.lineage, now)
    throw refuse.invalid_grant()
  }
  if (narrowed) requireRequested(narrowed, found.lineage)
  throw refuse.invalid_grant()
}

/**
 * Refuses `invalid_scope` for a scope that the app did not request when the person agreed. One that it requested and
 * was not granted is left out, for clients send again what they requested; nothing must not be left.
 */
function requireRequested(
  narrowed: string[],
  { scope: granted, requestedScope }: Pick<Lineage, 'scope' | 'requestedScope'>,
) {
  const never = narrowed.find((scope) => !(requestedScope ?? granted).includes(scope))
  if (never !== undefined)
    throw refuse.invalid_scope({ sentence: `The scope ${quoted(never)} was not requested at authorization.` })
  if (!narrowed.some((scope) => granted.includes(scope)))
    throw refuse.invalid_scope({ sentence: 'None of these scopes was granted.' })
}
