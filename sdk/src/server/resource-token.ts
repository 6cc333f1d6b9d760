import { createHash } from 'node:crypto'
import { withoutTrailingSlash } from '@countersign/protocol/formats/resource'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { createMemory } from '../resource/memory.ts'
import type { App } from './signing-request.ts'

export type WantedToken = {
  /** The `access_token_jwt` of the person for whom your app acts. */
  subjectToken: string
  /** The resource at which it acts: its key, or its audience. */
  resource: string
  /** With spaces between them; all that the person agreed to where it is absent. */
  scope?: string | undefined
}

/** A token to act at a resource, and what it lets do. */
export type ResourceToken = {
  /** What goes into the `Authorization` header there, after `Bearer`. */
  accessToken: string
  /** The key of the resource, and whom the token is for. */
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
/** A token that ends on its way is of no use. */
const marginMilliseconds = 30_000
const tokensMax = 10_000
const lifetimeSecondsMax = 3600

/** Gets tokens for resources (RFC 8693), and gives each again until shortly before it ends. */
export function createTokenExchange(app: Omit<App, 'authUrl'>) {
  const freshUntil = ({ expiresAt }: ResourceToken) => new Date(expiresAt).getTime() - marginMilliseconds
  const memory = createMemory<ResourceToken>({ entriesMax: tokensMax, freshUntil })
  return {
    exchangeForResource: async (wanted: WantedToken): Promise<ResourceToken> =>
      memory.recall(keyOf(wanted), () => exchangeToken(app, wanted)),
    forgetToken: ({ accessToken }: Pick<ResourceToken, 'accessToken'>): void =>
      memory.forget((token) => token.accessToken === accessToken),
  }
}

/**
 * The very token that was shown, and not whom it names: it is the service that verifies it. Whoever writes the id of
 * somebody else into a token of their own making would be given what is kept for that person.
 */
function keyOf({ subjectToken, resource, scope }: WantedToken): string {
  const shown = createHash('sha256').update(subjectToken).digest('base64url')
  return JSON.stringify([shown, resource, scope === undefined ? null : scopesIn(scope).toSorted()])
}

async function exchangeToken(app: Omit<App, 'authUrl'>, wanted: WantedToken): Promise<ResourceToken> {
  const { subjectToken, resource, scope } = wanted
  const form = new URLSearchParams({
    grant_type: grantType,
    subject_token: subjectToken,
    subject_token_type: subjectTokenType,
    resource,
    ...(scope !== undefined && { scope }),
    client_id: app.clientId,
    client_secret: app.clientSecret,
  })
  const askedAt = Date.now()
  const answer = await exchange(new URL('/api/oauth/token', app.baseUrl), { form, patienceMilliseconds })
  const token = readToken(answer, askedAt)
  if (!token || !isWanted(token, wanted)) throw new CountersignError(unexpected)
  return token
}

const unexpected = {
  code: 'unexpected_answer',
  description: 'The token was exchanged with an answer that is not of the interface.',
}

function readToken(answer: unknown, askedAt: number): ResourceToken | undefined {
  if (!isRecord(answer) || !issuedTypes.includes(answer['issued_token_type'])) return undefined
  const { access_token: accessToken, token_type: type, expires_in: seconds, scope, audience } = answer
  const { target_resource: resource, communication_mode: mode } = answer
  if (typeof accessToken !== 'string' || type !== 'Bearer' || typeof scope !== 'string') return undefined
  if (typeof audience !== 'string' || typeof resource !== 'string') return undefined
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= lifetimeSecondsMax)) return undefined
  if (mode !== 'user_present' && mode !== 'background') return undefined
  const expiresAt = new Date(askedAt + seconds * 1000).toISOString()
  return Object.freeze({ accessToken, resource, audience, scopes: Object.freeze(scopesIn(scope)), mode, expiresAt })
}

/** For the resource that was meant, and no more than was asked for. */
function isWanted({ resource, audience, scopes }: ResourceToken, wanted: WantedToken): boolean {
  const most = wanted.scope === undefined ? scopes : scopesIn(wanted.scope)
  const isMeant =
    resource === wanted.resource || withoutTrailingSlash(audience) === withoutTrailingSlash(wanted.resource)
  return isMeant && scopes.every((scope) => most.includes(scope))
}

function scopesIn(scope: string): string[] {
  return [...new Set(scope.split(' ').filter(Boolean))]
}
