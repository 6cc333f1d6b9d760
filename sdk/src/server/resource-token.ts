import { createHash } from 'node:crypto'
import { withoutTrailingSlash } from '@countersign/protocol/formats/scope'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { createTtlCache } from '../resource/delegation-introspection.ts'
import type { App } from './signing-request.ts'

export type ResourceTokenOptions = {
  /** The `access_token_jwt` of the user on whose behalf your app acts. */
  subjectToken: string
  /** The target resource: its key, or its audience. */
  resource: string
  /** Scopes separated by spaces. Default: all granted scopes. */
  scope?: string | undefined
}

/** A delegated token for a resource, and its scopes. */
export type DelegatedAccessToken = {
  /** The value for the `Authorization` header, after `Bearer`. */
  accessToken: string
  /** The key and the audience of the resource. */
  resource: string
  audience: string
  scopes: readonly string[]
  mode: 'user_present' | 'background'
  expiresAt: string
}

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const subjectTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const issuedTypes: unknown[] = [subjectTokenType, 'urn:ietf:params:oauth:token-type:jwt']
const patienceMilliseconds = 15_000
/** Safety margin: a token must not expire on its way. */
const marginMilliseconds = 30_000
const tokensMax = 10_000
const lifetimeSecondsMax = 3600

/** Gets tokens for resources (RFC 8693), and reuses each until shortly before it expires. */
export function createTokenExchange(app: Omit<App, 'authUrl'>) {
  const freshUntil = ({ expiresAt }: DelegatedAccessToken) => new Date(expiresAt).getTime() - marginMilliseconds
  const memory = createTtlCache<DelegatedAccessToken>({ entriesMax: tokensMax, freshUntil })
  return {
    exchangeForResource: async (requested: ResourceTokenOptions): Promise<DelegatedAccessToken> =>
      memory.recall(keyOf(requested), () => exchangeToken(app, requested)),
    forgetToken: ({ accessToken }: Pick<DelegatedAccessToken, 'accessToken'>): void =>
      memory.forget((token) => token.accessToken === accessToken),
  }
}

/**
 * The cache key is the token itself, not its subject, because only the service verifies it. A forged token with another
 * user's id would otherwise get that user's cached token.
 */
function keyOf({ subjectToken, resource, scope }: ResourceTokenOptions): string {
  const shown = createHash('sha256').update(subjectToken).digest('base64url')
  return JSON.stringify([shown, resource, scope === undefined ? null : scopesIn(scope).toSorted()])
}

async function exchangeToken(
  app: Omit<App, 'authUrl'>,
  requested: ResourceTokenOptions,
): Promise<DelegatedAccessToken> {
  const { subjectToken, resource, scope } = requested
  const form = new URLSearchParams({
    grant_type: grantType,
    subject_token: subjectToken,
    subject_token_type: subjectTokenType,
    resource,
    ...(scope !== undefined && { scope }),
    client_id: app.clientId,
    client_secret: app.clientSecret,
  })
  const requestedAt = Date.now()
  const answer = await exchange(new URL('/api/oauth/token', app.baseUrl), { form, patienceMilliseconds })
  const token = readToken(answer, requestedAt)
  if (!token || !isRequested(token, requested)) throw new CountersignError(unexpected)
  return token
}

const unexpected = {
  code: 'unexpected_response',
  description: 'The token endpoint returned an unexpected response.',
}

function readToken(answer: unknown, requestedAt: number): DelegatedAccessToken | undefined {
  if (!isRecord(answer) || !issuedTypes.includes(answer['issued_token_type'])) return undefined
  const { access_token: accessToken, token_type: type, expires_in: seconds, scope, audience } = answer
  const { target_resource: resource, communication_mode: mode } = answer
  if (typeof accessToken !== 'string' || type !== 'Bearer' || typeof scope !== 'string') return undefined
  if (typeof audience !== 'string' || typeof resource !== 'string') return undefined
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= lifetimeSecondsMax)) return undefined
  if (mode !== 'user_present' && mode !== 'background') return undefined
  const expiresAt = new Date(requestedAt + seconds * 1000).toISOString()
  return Object.freeze({ accessToken, resource, audience, scopes: Object.freeze(scopesIn(scope)), mode, expiresAt })
}

/** Checks that the token is for the requested resource, with no more than the requested scopes. */
function isRequested({ resource, audience, scopes }: DelegatedAccessToken, requested: ResourceTokenOptions): boolean {
  const most = requested.scope === undefined ? scopes : scopesIn(requested.scope)
  const isMeant =
    resource === requested.resource || withoutTrailingSlash(audience) === withoutTrailingSlash(requested.resource)
  return isMeant && scopes.every((scope) => most.includes(scope))
}

function scopesIn(scope: string): string[] {
  return [...new Set(scope.split(' ').filter(Boolean))]
}
