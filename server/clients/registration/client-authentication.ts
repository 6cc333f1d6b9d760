import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { textKey, type RateLimits } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { AppDirectory, RegisteredApp } from './app-directory.ts'
import { liveSecretsOf } from './secret.ts'

/** How a client authenticates (RFC 6749 §2.3), and where it said so. */
export type ClientCredentials = { clientId: string; proof: ClientProof; scheme: 'basic' | 'body' }
export type ClientProof = { kind: 'secret'; secret: Secret } | { kind: 'none' } | { kind: 'unreadable' }

/** A registered app that asks, and whether it has proved to be that app; one that sent no secret has not. */
export type Client = { app: RegisteredApp; proved: boolean }

const refuse = refusals({ invalid_client: [401, 'The client is unknown, or its secret is wrong or missing.'] })

const noSecretSha256 = new Uint8Array(32)

/**
 * Finds out which app asks. A secret that is sent must be right, also where none is needed. Refuses `invalid_client`
 * for an unknown client, a wrong secret and what cannot be read alike, `rate_limited` after too many failures: of an
 * address, whatever it sends then; of a client at an address, or at all addresses together, only where the secret is
 * wrong, so that guesses lock no app out, and those of one network change no answer to another one.
 */
export async function authenticateClient(
  { apps, rateLimits }: { apps: AppDirectory; rateLimits: RateLimits },
  { clientId, proof, scheme }: ClientCredentials,
  address: string,
  now: Date,
): Promise<Client> {
  await rateLimits.check('failed client authentication', address)
  const app = await apps.find(clientId)
  const proved = proof.kind === 'secret' && isSecretOf(app, proof.secret, now)
  // A header without a secret is for an app that has none; any other meant to prove itself.
  const provesNothing = proof.kind === 'none' && (scheme === 'body' || app?.isPublic === true)
  if (app && (proved || provesNothing)) return { app, proved }

  await rateLimits.count('failed client authentication', address)
  if (proof.kind === 'secret') {
    await rateLimits.count('failed authentication of a client', textKey(`${clientId} ${siteKey(address)}`))
    await rateLimits.count('failed authentication of a client from anywhere', textKey(clientId))
  }
  throw refuse.invalid_client(
    scheme === 'basic' ? { headers: { 'www-authenticate': 'Basic realm="countersign"' } } : {},
  )
}

/** Refuses `invalid_client` where an app that has a secret has not proved to know it. A public app has none. */
export function requireProof({ app, proved }: Client): void {
  if (!app.isPublic && !proved) throw refuse.invalid_client()
}

/** Whether it is one of the app's secrets. An unknown app and one without a secret take the same time to say no. */
function isSecretOf(app: RegisteredApp | undefined, secret: Secret, now: Date): boolean {
  const givenSha256 = sha256(secret.reveal())
  const live = app ? liveSecretsOf(app, now) : []
  const storedSha256 = live.length > 0 ? live : [noSecretSha256]
  return storedSha256.map((stored) => equalBytes(stored, givenSha256)).includes(true)
}
