import { parseBaseUrl } from '../shared/error.ts'

export type DescribedResource = {
  /** The URL of the resource, which is the audience of its tokens. */
  resource: string
  /** The issuer, such as `https://id.example`. */
  authUrl: string
  /** The supported scopes. */
  scopes: readonly string[]
  /** The display name. */
  name?: string | undefined
  /** The developer documentation. */
  documentation?: string | undefined
}

export type ResourceMetadata = {
  /** Location of the document: the path, and the absolute URL. */
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

/** Returns the metadata of the resource and its location (RFC 9728 §2, §3.1). */
export function protectedResourceMetadata(described: DescribedResource): ResourceMetadata {
  const { resource, authUrl, scopes, name, documentation } = described
  const { origin, pathname, search } = parseBaseUrl('resource', resource)
  if (resource.includes('#')) throw new TypeError('resource must have no fragment')
  const ownPath = pathname === '/' ? search : pathname + search
  const path = `/.well-known/oauth-protected-resource${ownPath}`
  return {
    path,
    url: origin + path,
    document: {
      resource,
      authorization_servers: [parseBaseUrl('authUrl', authUrl).origin],
      scopes_supported: [...scopes],
      bearer_methods_supported: ['header'],
      ...(name !== undefined && { resource_name: name }),
      ...(documentation !== undefined && { resource_documentation: documentation }),
    },
  }
}
