import { createPublicKey } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import type { ClientId } from '@countersign/protocol/ids'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { requireApp } from '#clients/registration/app.ts'
import { findAppKeyOwner } from './app-key.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send client_id and exactly one of handle and public_key.'],
})

/** Query parameters; an empty parameter counts as present, but matches no identity. */
type Query = { client_id?: ClientId; handle?: string; public_key?: string }

/** Parses which identity is looked up in which app. Throws `invalid_request`. */
export function parseAppLookup({ client_id: clientId, handle, public_key: text }: Query) {
  if (clientId === undefined) throw errors.invalid_request()
  if (handle !== undefined && text === undefined) return { clientId, handle }
  if (handle !== undefined || text === undefined) throw errors.invalid_request()
  const publicKey = parsePublicKey(text)
  if (!publicKey)
    throw errors.invalid_request({ sentence: 'public_key must be a public key as SPKI in canonical base64.' })
  return { clientId, publicKey }
}

/**
 * Returns the SPKI bytes of a public key of any algorithm, or undefined for any other text. A plus sign that a client
 * has not escaped arrives as a space, which base64 does not have.
 */
function parsePublicKey(text: string): Uint8Array | undefined {
  const bytes = fromCanonicalBase64(text.replaceAll(' ', '+'))
  return bytes && isPublicKey(Buffer.from(bytes)) ? bytes : undefined
}

function isPublicKey(spki: Buffer): boolean {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    return key.export({ format: 'der', type: 'spki' }).equals(spki)
  } catch {
    return false
  }
}

/**
 * Finds the public key of an identity in an app that it has connected, by handle or by the key itself (interface §4.4).
 * Only lookups without a result count for the app, and only these are rejected. Throws `app_not_found`,
 * `app_public_key_not_found`, `rate_limited`.
 */
export async function findAppPublicKey(
  { kernel, apps }: { kernel: Pick<ServerContext, 'db' | 'rateLimits' | 'clock'>; apps: AppDirectory },
  target: ReturnType<typeof parseAppLookup>,
) {
  const { clientId } = target
  requireApp(await apps.find(clientId))
  try {
    return { clientId, ...(await findAppKeyOwner(kernel.db, target)), encryptionMode: 'asymmetric' as const }
  } catch (error) {
    // Anyone can look up what does not exist. That must not stop the lookup of keys that do.
    if (error instanceof ApiError) await kernel.rateLimits.count('app-lookups-per-app', clientId)
    throw error
  }
}
