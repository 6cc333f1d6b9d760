import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/operations/configuration'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host, Hosts } from '#platform/http/host.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { applyDocument, type Services } from './apply.ts'
import { exportDocument } from './export.ts'
import { fileSchema, schemaPath } from './schema.ts'

/** Registers the configuration as a document, and the schema of its files. */
export function configurationRoutes({ api, auth }: Hosts, services: Services): void {
  documentRoutes(api, services)
  const { config } = services.kernel
  auth.route({
    method: 'GET',
    url: schemaPath,
    config: { security: 'none', cors: 'any origin' },
    handler: (_request, reply) => reply.type('application/schema+json').send(JSON.stringify(fileSchema(config))),
  })
}

function documentRoutes(host: Host, services: Services): void {
  const { kernel } = services
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.applyConfiguration,
    bodyLimit: limits.documentBytesMax,
    onRequest,
    handler: (request) => {
      const given = { ...request.body, operator: of(request), browserLanguage: negotiateLanguage(request) }
      return applyDocument(services, given, kernel.clock())
    },
  })

  host.route({
    ...endpoints.exportConfiguration,
    onRequest,
    handler: (request) =>
      exportDocument(kernel, { operator: of(request), source: request.query.source }, kernel.clock()),
  })
}
