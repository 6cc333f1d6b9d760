import { parseBaseUrl } from '../shared/error.ts'
import { createChallenges } from './challenge.ts'
import { type DelegatedToken, verifyClaims } from './delegated-token.ts'
import { type Introspection, createDelegationIntrospection } from './delegation-introspection.ts'
import { type DescribedResource, type ResourceMetadata, protectedResourceMetadata } from './metadata.ts'
import {
  type RequiredToken,
  type TokenVerifier,
  delegatedTokenPlugin,
  metadataPlugin,
  protectedResourceMetadataMiddleware,
  requireDelegatedToken,
} from './middleware.ts'

export { Challenge } from './challenge.ts'
export { CountersignError } from '../shared/error.ts'
export { protectedResourceMetadata, type DescribedResource, type ResourceMetadata } from './metadata.ts'
export type { DelegatedToken } from './delegated-token.ts'
export type { Introspection } from './delegation-introspection.ts'

export type ResourceSettings = {
  /** The issuer, such as `https://id.example`. */
  authUrl: string
  /** The registered audience of the resource. */
  audience: string
  /** The registered key of the resource. If it is set, a token must contain it too. */
  resourceKey?: string | undefined
  /** The metadata of the resource (RFC 9728); each challenge then contains its URL. */
  metadata?: Omit<DescribedResource, 'resource' | 'authUrl'> | undefined
  /**
   * Checks with the service that a delegation is still active, so that a revocation takes effect before the token
   * expires.
   */
  introspect?: Introspection | undefined
}

export type Resource = ReturnType<typeof createResource>

/** An API at which apps act for users. */
export function createResource({ authUrl, audience, resourceKey, metadata, introspect }: ResourceSettings) {
  if (!audience) throw new TypeError('audience must be the audience of the registered resource')
  const service = parseBaseUrl('authUrl', authUrl)
  const described = metadata && protectedResourceMetadata({ ...metadata, resource: audience, authUrl })
  const challenges = createChallenges(described?.url)
  const grants = introspect && createDelegationIntrospection(introspect)
  const expected = { service, audience, resourceKey }

  /** Throws a challenge if the token lacks one of these scopes, which are separated by spaces. */
  function requireScope({ scopes }: DelegatedToken, scope: string): void {
    if (!scopesIn(scope).every((requested) => scopes.includes(requested))) throw challenges.insufficientScope(scope)
  }

  /**
   * Returns the claims of a token. Throws a challenge if it is not valid here, and `verification_unavailable` if that
   * cannot be checked now.
   */
  async function verify(token: string, requested: RequiredToken = {}): Promise<DelegatedToken> {
    const scope = scopeIn(requested)
    const delegated = await verifyClaims(expected, token, challenges)
    const isActive = grants ? await grants.isActive(token, delegated.tokenId) : true
    if (!isActive) throw challenges.invalidToken('The delegation has been revoked.')
    requireScope(delegated, scope)
    return delegated
  }

  const guard: TokenVerifier = async (authorization, requested) => {
    // Only from the header: URLs and form fields are logged, and can be sent by other sites.
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) throw challenges.noToken()
    return verify(token, requested)
  }

  const metadataOrThrow = (): ResourceMetadata => {
    if (!described) throw new TypeError('metadata is missing in the settings of the resource')
    return described
  }

  return {
    verify,
    requireScope,
    /** Returns a Fastify plugin that rejects requests without a token in the scope in which it is registered. */
    fastify: delegatedTokenPlugin(guard),
    /** Returns Express middleware, also for Connect and `node:http`, that rejects requests without a token. */
    express: (requested: RequiredToken = {}) => requireDelegatedToken(guard, { scope: scopeIn(requested) }),
    /** Returns a Fastify plugin that responds with the resource metadata. */
    fastifyMetadata: () => metadataPlugin(metadataOrThrow()),
    /** Returns Express middleware that responds with the resource metadata. */
    expressMetadata: () => protectedResourceMetadataMiddleware(metadataOrThrow()),
  }
}

const resources = new WeakMap<ResourceSettings, Resource>()

/** Returns the claims of a token. Calls with the same settings object share a cache. */
export function verifyDelegatedToken(
  settings: ResourceSettings,
  token: string,
  requested: RequiredToken = {},
): Promise<DelegatedToken> {
  const resource = resources.get(settings) ?? createResource(settings)
  resources.set(settings, resource)
  return resource.verify(token, requested)
}

/** Rejects other forms of the option, which would be ignored and let every token in. */
function scopeIn(requested: RequiredToken): string {
  const { scope = '' } = requested
  if (typeof requested !== 'object' || typeof scope !== 'string' || 'scopes' in requested)
    throw new TypeError('required scopes must be passed as { scope }, with spaces between the scopes')
  return scope
}

function scopesIn(scope: string): string[] {
  return scope.split(' ').filter(Boolean)
}
