import type { AppDirectory } from '#clients/registration/app-directory.ts'
import { requireApp } from '#clients/registration/app.ts'
import { findHolder } from './app-key.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { parseEncryptionKey } from '#accounts/keys/encryption-key.ts'

const refuse = refusals({
  invalid_request: [400, 'The client_id, and either a handle or a public_key, must be given.'],
})

/** Words of the query; the empty ones are given and name nobody. */
type Query = { client_id?: string; handle?: string; public_key?: string }

/** Who is sought in which app. Refuses `invalid_request`. */
export function readLookup({ client_id: clientId, handle, public_key: text }: Query) {
  if (clientId === undefined) throw refuse.invalid_request()
  if (handle !== undefined && text === undefined) return { clientId, handle }
  if (handle !== undefined || text === undefined) throw refuse.invalid_request()
  const publicKey = parseEncryptionKey(text)
  if (!publicKey)
    throw refuse.invalid_request({
      sentence: 'The public_key is no key of X25519 or P-256, as SPKI in canonical base64.',
    })
  return { clientId, publicKey }
}

/**
 * The public key of an identity in an app that it has connected, found by handle or by the key itself (interface
 * §4.4). Refuses `app_not_found`, `rate_limited`, `app_public_key_not_found`.
 */
export async function lookUpAppKey(
  { kernel, apps }: { kernel: Pick<Kernel, 'db' | 'rateLimits'>; apps: AppDirectory },
  sought: ReturnType<typeof readLookup>,
) {
  const { clientId } = sought
  requireApp(await apps.find(clientId))
  await kernel.rateLimits.count('app lookup in an app', clientId)
  return { clientId, ...(await findHolder(kernel.db, sought)), encryptionMode: 'asymmetric' as const }
}
