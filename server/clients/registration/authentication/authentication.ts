import { type ClientId, asId } from '@countersign/protocol/ids'
import { Secret, equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { siteKey } from '#platform/rate-limits/rate-limit-key.ts'
import { type RateLimits, hashKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { AppDirectory, RegisteredApp } from '#clients/registration/directory.ts'
import { activeSecretHashes } from './secret.ts'
import { resolveFieldAlias } from '#platform/http/body.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses client ID and secret from an `Authorization: Basic` header, each form-encoded inside the base64 (RFC 6749
 * §2.3.1). An empty secret counts as none. Returns undefined for any other header: another scheme, base64 that is not
 * canonical, no colon, U+0000, an invalid escape.
 */
export function parseBasicCredentials(header: string): { clientId: ClientId; secret: Secret | undefined } | undefined {
  const pair = decodeBase64(/^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1] ?? '')
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 1) return undefined

  const clientId = decodeFormText(pair.slice(0, colon))
  const secret = decodeFormText(pair.slice(colon + 1))
  if (clientId === undefined || secret === undefined) return undefined
  return { clientId: asId<ClientId>(clientId), secret: secret === '' ? undefined : new Secret(secret) }
}

/** Decodes canonical base64 to text. */
function decodeBase64(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return undefined
  return textOrNothing(() => utf8.decode(bytes))
}

function decodeFormText(encoded: string): string | undefined {
  const text = textOrNothing(() => decodeURIComponent(encoded.replaceAll('+', ' ')))
  return text?.includes('\0') ? undefined : text
}

/** Returns the result of `decode`, or undefined if it throws for malformed text. */
function textOrNothing(decode: () => string): string | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof URIError || error instanceof TypeError) return undefined
    throw error
  }
}

/** Client authentication (RFC 6749 §2.3), and the part of the request that contained it. */
export type ClientCredentials = { clientId: ClientId; proof: ClientAuthentication; scheme: 'basic' | 'body' }
export type ClientAuthentication = { kind: 'secret'; secret: Secret } | { kind: 'none' } | { kind: 'unreadable' }

/** A client and whether it has authenticated. A client that sent no secret has not. */
export type Client = { app: RegisteredApp; authenticated: boolean }

const errors = defineErrors({
  invalid_client: [401, 'Client authentication failed: unknown client_id, or wrong or missing client secret.'],
  invalid_request: [400, 'Send the client credentials in one way only.'],
})

const noSecretSha256 = new Uint8Array(32)

/**
 * Authenticates a client. A secret that is sent must be correct, even if none is required. Throws `invalid_client` for
 * an unknown client, a wrong secret and malformed credentials alike. Throws `rate_limited` after too many failures of
 * an address, for any further credentials. The limits per client and address, and per client at all addresses, apply
 * only to wrong secrets. Guesses therefore lock no app out, and guesses from one network do not change responses to
 * another.
 */
export async function authenticateClient(
  { apps, rateLimits }: { apps: AppDirectory; rateLimits: RateLimits },
  { clientId, proof, scheme }: ClientCredentials,
  address: string,
  now: Date,
): Promise<Client> {
  await rateLimits.check('client-authentication-failures-per-ip', address)
  const app = await apps.find(clientId)
  const proved = proof.kind === 'secret' && isSecretOf(app, proof.secret, now)
  // A header without a secret is accepted only from a public app.
  const provesNothing = proof.kind === 'none' && (scheme === 'body' || app?.isPublic === true)
  if (app && (proved || provesNothing)) return { app, authenticated: proved }

  await rateLimits.count('client-authentication-failures-per-ip', address)
  if (proof.kind === 'secret') {
    await rateLimits.count('client-authentication-failures-per-client', hashKey(`${clientId} ${siteKey(address)}`))
    await rateLimits.count('client-authentication-failures-per-client-global', hashKey(clientId))
  }
  throw errors.invalid_client(
    scheme === 'basic' ? { headers: { 'www-authenticate': 'Basic realm="countersign"' } } : {},
  )
}

/** Throws `invalid_client` if an app with a secret has not authenticated. Public apps need no secret. */
export function requireClientAuthentication({ app, authenticated }: Client): void {
  if (!app.isPublic && !authenticated) throw errors.invalid_client()
}

/** Checks whether a secret is one of the app's. Takes the same time for unknown apps and for apps without a secret. */
function isSecretOf(app: RegisteredApp | undefined, secret: Secret, now: Date): boolean {
  const givenSha256 = sha256(secret.reveal())
  const live = app ? activeSecretHashes(app, now) : []
  const storedSha256 = live.length > 0 ? live : [noSecretSha256]
  return storedSha256.map((stored) => equalBytes(stored, givenSha256)).includes(true)
}

/** Body fields with client credentials. */
type CredentialFields = Partial<Record<'client_id' | 'client_secret' | 'clientId' | 'clientSecret', string>>

/**
 * Parses client credentials from the header or the body (RFC 6749 §2.3); only one of them is allowed. Throws
 * `invalid_request`. Malformed credentials are rejected by `authenticateClient`, which counts them. An empty secret
 * counts as none, because a public app can still send the field or the header.
 */
export function parseClientCredentials(authorization: string | undefined, body: CredentialFields): ClientCredentials {
  const clientId = asId<ClientId>(resolveFieldAlias(body.client_id || undefined, body.clientId || undefined) ?? '')
  const secret = resolveFieldAlias(body.client_secret || undefined, body.clientSecret || undefined)
  if (authorization === undefined) {
    if (!clientId) throw missing('client_id')
    return { clientId, proof: proofOf(secret === undefined ? undefined : new Secret(secret)), scheme: 'body' }
  }
  if (secret !== undefined)
    throw errors.invalid_request({
      sentence: 'Send the client secret once, in the Authorization header or in the body.',
    })
  const basic = parseBasicCredentials(authorization)
  if (!basic) return { clientId, proof: { kind: 'unreadable' }, scheme: 'basic' }
  if (clientId !== '' && clientId !== basic.clientId)
    throw errors.invalid_request({ sentence: 'The Authorization header and the body name different clients.' })
  return { clientId: basic.clientId, proof: proofOf(basic.secret), scheme: 'basic' }
}

function proofOf(secret: Secret | undefined): ClientAuthentication {
  return secret ? { kind: 'secret', secret } : { kind: 'none' }
}

/** Creates the error for a missing parameter. */
export function missing(name: string) {
  return errors.invalid_request({ sentence: `${name} is missing.` })
}
