import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { Config } from '#platform/config/config.ts'
import type { Host } from '#platform/http/http.ts'
import { openApiDocument } from './openapi.ts'

/** The reader's own scripts and styles; it sets some styles in place, which no text of ours can reach. */
const readerPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** The reference of the interface: as a document, and as pages to read that load nothing from elsewhere. */
export async function referenceRoutes(host: Host, config: Config): Promise<void> {
  const document = openApiDocument(config)
  // One for all who are reading it, however slowly they do.
  const json = Buffer.from(JSON.stringify(document))
  let yaml: Buffer | undefined
  host.route({
    method: 'GET',
    url: '/openapi.json',
    config: { security: 'none', cors: 'any origin' },
    handler: (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').type('application/json; charset=utf-8').send(json),
  })

  await host.register(swagger, { mode: 'static', specification: { document } })
  await host.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: readerPolicy,
    uiHooks: {
      preHandler(request, reply, done) {
        const { url } = request.routeOptions
        if (url === '/docs/json') return void reply.type('application/json; charset=utf-8').send(json)
        if (url !== '/docs/yaml') return done()
        yaml ??= Buffer.from(host.swagger({ yaml: true }))
        reply.type('application/x-yaml').send(yaml)
      },
    },
    uiConfig: { layout: 'BaseLayout', supportedSubmitMethods: [] },
    theme: { title: 'Countersign API' },
  })
}
