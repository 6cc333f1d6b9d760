import { addressOf } from '../shared/address.ts'
import { createChallenges } from './challenge.ts'
import { readDelegatedToken, type DelegatedToken } from './delegated-token.ts'
import { createGrantCheck, type Introspection } from './grant-check.ts'
import { protectedResourceMetadata, type DescribedResource, type ResourceMetadata } from './metadata.ts'
import { guardingMiddleware, metadataMiddleware, type Guard, type Wanted } from './resource-middleware.ts'
import { guardingPlugin, metadataPlugin } from './resource-plugin.ts'

export { Challenge } from './challenge.ts'
export { CountersignError } from '../shared/error.ts'
export { protectedResourceMetadata, type DescribedResource, type ResourceMetadata } from './metadata.ts'
export type { DelegatedToken } from './delegated-token.ts'
export type { Introspection } from './grant-check.ts'

export type ResourceSettings = {
  /** The issuer, such as `https://id.example`. */
  authUrl: string
  /** With which audience the resource is registered: whom its tokens are for. */
  audience: string
  /** Under which key it is registered. A token then has to name it too. */
  resourceKey?: string | undefined
  /** What it says about itself (RFC 9728); each refusal then tells where. */
  metadata?: Omit<DescribedResource, 'resource' | 'authUrl'> | undefined
  /** Asks the service whether the consent still stands, so that its end is felt before that of the token. */
  introspect?: Introspection | undefined
}

export type Resource = ReturnType<typeof createResource>

/** An API at which apps act for people. */
export function createResource({ authUrl, audience, resourceKey, metadata, introspect }: ResourceSettings) {
  if (!audience) throw new TypeError('audience is that of the registered resource')
  const service = addressOf('authUrl', authUrl)
  const described = metadata && protectedResourceMetadata({ ...metadata, resource: audience, authUrl })
  const challenges = createChallenges(described?.url)
  const grants = introspect && createGrantCheck(introspect)
  const expected = { service, audience, resourceKey }

  /** Throws a challenge where the token does not have all of these scopes, which have spaces between them. */
  function requireScope({ scopes }: DelegatedToken, scope: string): void {
    if (!scopesIn(scope).every((wanted) => scopes.includes(wanted))) throw challenges.insufficientScope(scope)
  }

  /** What a token says. Throws a challenge where it is not good here, and `cannot_verify` where that can't be told. */
  async function verify(token: string, wanted: Wanted = {}): Promise<DelegatedToken> {
    const scope = scopeIn(wanted)
    const delegated = await readDelegatedToken(expected, token, challenges)
    const isActive = grants ? await grants.isActive(token, delegated.tokenId) : true
    if (!isActive) throw challenges.invalidToken('The consent has ended.')
    requireScope(delegated, scope)
    return delegated
  }

  const guard: Guard = async (authorization, wanted) => {
    // From nowhere else: what stands in an address or in a form is logged, and sent by others.
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) throw challenges.noToken()
    return verify(token, wanted)
  }

  const metadataOrThrow = (): ResourceMetadata => {
    if (!described) throw new TypeError('metadata is missing from the settings of the resource')
    return described
  }

  return {
    verify,
    requireScope,
    /** A Fastify plugin: who comes without a token is refused in the scope in which it is registered. */
    fastify: guardingPlugin(guard),
    /** Express middleware, also for Connect and `node:http`: who comes without a token is refused. */
    express: (wanted: Wanted = {}) => guardingMiddleware(guard, { scope: scopeIn(wanted) }),
    /** A Fastify plugin that answers what the resource says about itself. */
    fastifyMetadata: () => metadataPlugin(metadataOrThrow()),
    /** The same as Express middleware. */
    expressMetadata: () => metadataMiddleware(metadataOrThrow()),
  }
}

const resources = new WeakMap<ResourceSettings, Resource>()

/** What a token says. The same settings, given again, know what was asked before. */
export function verifyDelegatedToken(
  settings: ResourceSettings,
  token: string,
  wanted: Wanted = {},
): Promise<DelegatedToken> {
  const resource = resources.get(settings) ?? createResource(settings)
  resources.set(settings, resource)
  return resource.verify(token, wanted)
}

/** Written in another way it would be overlooked, and everybody with a token let in. */
function scopeIn(wanted: Wanted): string {
  const { scope = '' } = wanted
  if (typeof wanted !== 'object' || typeof scope !== 'string' || 'scopes' in wanted)
    throw new TypeError('what a token needs is written as { scope }, with spaces between the scopes')
  return scope
}

function scopesIn(scope: string): string[] {
  return scope.split(' ').filter(Boolean)
}
