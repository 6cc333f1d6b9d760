import { addressOf } from '../shared/address.ts'

export type DescribedResource = {
  /** The address of the resource, which is the audience of its tokens. */
  resource: string
  /** The issuer, such as `https://id.example`. */
  authUrl: string
  /** The scopes that it knows. */
  scopes: readonly string[]
  /** What people call it. */
  name?: string | undefined
  /** The page that tells developers how to use it. */
  documentation?: string | undefined
}

export type ResourceMetadata = {
  /** Where the document is to be found: the path, and the whole address. */
  path: string
  url: string
  document: {
    resource: string
    authorization_servers: string[]
    scopes_supported: string[]
    bearer_methods_supported: ['header']
    resource_name?: string
    resource_documentation?: string
  }
}

/** What a resource says about itself, and where it has to say it (RFC 9728 §2, §3.1). */
export function protectedResourceMetadata(described: DescribedResource): ResourceMetadata {
  const { resource, authUrl, scopes, name, documentation } = described
  const { origin, pathname, search } = addressOf('resource', resource)
  if (resource.includes('#')) throw new TypeError('resource has no fragment')
  const ownPath = pathname === '/' ? search : pathname + search
  const path = `/.well-known/oauth-protected-resource${ownPath}`
  return {
    path,
    url: origin + path,
    document: {
      resource,
      authorization_servers: [addressOf('authUrl', authUrl).origin],
      scopes_supported: [...scopes],
      bearer_methods_supported: ['header'],
      ...(name !== undefined && { resource_name: name }),
      ...(documentation !== undefined && { resource_documentation: documentation }),
    },
  }
}
