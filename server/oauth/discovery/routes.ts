import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/oauth/authorize'
import { sha256 } from '#platform/crypto/secret.ts'
import { namesEntityTag } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import type { MetadataPart } from '#platform/module/define-module.ts'
import { buildProviderMetadata } from './provider-metadata.ts'
import { resolveWebFinger } from './webfinger.ts'

export type DiscoveryServices = { kernel: ServerContext; keys: SigningKeys; metadataParts: readonly MetadataPart[] }

/** Registers the public documents of the auth host: discovery, JWKS, WebFinger. */
export function discoveryRoutes(host: Host, { kernel: { config }, keys, metadataParts }: DiscoveryServices): void {
  const metadata = buildProviderMetadata(metadataParts, config)
  serveDocument(host, endpoints.openidConfiguration, () => metadata)
  serveDocument(host, endpoints.authorizationServerMetadata, () => metadata)
  serveDocument(host, endpoints.jwks, keys.keySet)

  host.route({
    ...endpoints.webfinger,
    async handler(request, reply) {
      const { resource, rel = [] } = request.query
      const answer = resolveWebFinger(config.authUrl, resource, Array.isArray(rel) ? rel : [rel])
      return reply.type('application/jrd+json').send(answer)
    },
  })
}

/** Redirects discovery requests at the API host to the auth host. */
export function discoveryRedirects(host: Host, authUrl: URL): void {
  for (const { url } of [endpoints.openidConfiguration, endpoints.authorizationServerMetadata])
    host.route({
      method: 'GET',
      url,
      config: { security: 'none', cors: 'any origin' },
      handler: (_request, reply) => reply.redirect(`${authUrl.origin}${url}`, 308),
    })
}

/**
 * Serves a document that is serialized only when it changes; answers 304 if the client has the current version (RFC
 * 9110 §13.1.2).
 */
function serveDocument(
  host: Host,
  { method, url, config }: Pick<AnyEndpoint, 'method' | 'url' | 'config'>,
  read: () => object | Promise<object>,
) {
  let served: Served | undefined
  host.route({
    method,
    url,
    config,
    async handler(request, reply) {
      const document = await read()
      if (served?.document !== document) served = serialize(document)
      const { body, headers } = served
      reply.headers(headers)
      const isCurrent = namesEntityTag(request.headers['if-none-match'], headers.etag)
      return isCurrent ? reply.status(304).send() : reply.send(body)
    },
  })
}

/**
 * Served as text: Node writes a text together with the header, but bytes in a second chunk, which costs a quarter more.
 */
type Served = { document: object; body: string; headers: { etag: string } }

function serialize(document: object): Served {
  const body = JSON.stringify(document)
  const headers = {
    etag: `"${sha256(body).toString('base64url').slice(0, 22)}"`,
    'cache-control': `public, max-age=${limits.keySetMaxAgeSeconds}`,
    'content-type': 'application/json; charset=utf-8',
  }
  return { document, body, headers }
}
