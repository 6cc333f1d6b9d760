import type { Readable } from 'node:stream'
import {
  backupMediaType,
  createBackup as takeEndpoint,
  restoreBackup as restoreEndpoint,
} from '@countersign/protocol/operations/backup'
import type { FastifyRequest } from 'fastify'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import { exemptFromBodyTimeout } from '#platform/http/body.ts'
import { defineErrors } from '#platform/api-error.ts'
import { createBackup } from './backup.ts'
import { type BackupServices, restoreBackup } from './restore.ts'

const errors = defineErrors({ unsupported_media_type: [415, `Send a backup as ${backupMediaType}.`] })

export function backupRoutes(host: Host, services: BackupServices): void {
  const { kernel, backedUpTables } = services
  const operator = adminGuard(kernel)

  host.route({
    ...takeEndpoint,
    // Otherwise Fastify takes a whole backup to answer HEAD.
    exposeHeadRoute: false,
    onRequest: operator.onRequest,
    async handler(request, reply) {
      const backup = await createBackup(kernel, operator.of(request), backedUpTables)
      return reply.type(backupMediaType).send(backup)
    },
  })

  // In a scope of its own: no other route takes a streamed body of any length.
  host.register(async (scope) => {
    const bodies = new WeakMap<FastifyRequest, Readable>()
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(backupMediaType, async (request: FastifyRequest, body: Readable) => {
      bodies.set(request, body)
    })
    scope.route({
      ...restoreEndpoint,
      bodyLimit: Number.MAX_SAFE_INTEGER,
      async onRequest(request) {
        await operator.onRequest(request)
        exemptFromBodyTimeout(request.raw)
      },
      async handler(request) {
        const body = bodies.get(request)
        if (!body) throw errors.unsupported_media_type()
        return restoreBackup(services, operator.of(request), body)
      },
    })
  })
}
