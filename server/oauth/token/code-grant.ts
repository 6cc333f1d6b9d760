import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import type { Client } from '#clients/registration/client-authentication.ts'
import type { Kernel } from '#platform/module/services.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { refusals } from '#platform/refusal.ts'
import {
  findLineageOfFirst,
  redeemCode,
  revokeForReuse,
  type FirstToken,
  type Issued,
  type Lineage,
  type Redeeming,
} from '#tokens/families/family.ts'

const refuse = refusals({
  invalid_grant: [400, 'The authorization code is unknown, expired, spent, or not yours.'],
  invalid_client: [401, 'This was issued without a challenge: authenticate with the client secret.'],
})

const ofAssertion = { sentence: 'The assertion is unknown, expired, spent, or not yours.' }

/** What a client presents, with the verifier of the challenge that it sent before, where it sent one. */
type Presented = { kind: FirstToken; token: string; redirectUri: string; codeVerifier: string | undefined }

/**
 * Redeems an authorization code, or an assertion in its place, once (RFC 6749 §4.1.3, RFC 7636 §4.6). Refuses
 * `invalid_grant`, `invalid_client`.
 * A second redemption by its own client also ends what the first one gave (RFC 6749 §4.1.2); one by anybody else, or
 * with anything wrong, neither spends the code nor ends anything.
 */
export async function redeem(
  { kernel: { db }, redeeming }: { kernel: Kernel; redeeming: Redeeming },
  client: Client,
  presented: Presented,
  now: Date,
): Promise<Issued> {
  const { kind, token, redirectUri, codeVerifier } = presented
  const codeChallenge = codeVerifier === undefined ? null : sha256(codeVerifier).toString('base64url')
  const redemption = { kind, token, redirectUri, codeChallenge, proved: client.proved }
  const issued = await redeemCode(redeeming, client.app, redemption, now)
  if (issued) return issued

  const lineage = await findLineageOfFirst(db, kind, token)
  if (lineage && lineage.codeChallenge === null && codeVerifier === undefined && !client.proved)
    throw refuse.invalid_client()
  if (lineage && isReplay(lineage, client, { redirectUri, codeChallenge })) await revokeForReuse(db, lineage, now)
  throw refuse.invalid_grant(kind === 'assertion' ? ofAssertion : {})
}

/** Whether what was spent is presented again by the client it was issued to, with the right proof. */
function isReplay(
  lineage: Pick<Lineage, 'codeSpentAt' | 'clientId' | 'redirectUri' | 'codeChallenge'>,
  client: { app: Pick<RegisteredApp, 'clientId'>; proved: boolean },
  { redirectUri, codeChallenge }: { redirectUri: string; codeChallenge: string | null },
): boolean {
  if (lineage.codeSpentAt === null) return false
  if (lineage.clientId !== client.app.clientId) return false
  if (lineage.redirectUri !== redirectUri) return false
  return lineage.codeChallenge === null ? client.proved : lineage.codeChallenge === codeChallenge
}
