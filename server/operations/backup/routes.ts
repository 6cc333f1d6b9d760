import type { Readable } from 'node:stream'
import { restoreBackup as restoreEndpoint, takeBackup as takeEndpoint } from '@countersign/protocol/operations/backup'
import { backupMediaType } from '@countersign/protocol/operations/formats-backup'
import type { FastifyRequest } from 'fastify'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { awaitBody } from '#platform/http/patience.ts'
import { refusals } from '#platform/refusal.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { takeBackup } from './backup.ts'
import { restoreBackup } from './restore.ts'

const refuse = refusals({ unsupported_media_type: [415, `Send a backup as ${backupMediaType}.`] })

export function backupRoutes(host: Host, { kernel, keys }: { kernel: Kernel; keys: SigningKeys }): void {
  const operator = adminGuard(kernel)

  host.route({
    ...takeEndpoint,
    onRequest: operator.onRequest,
    async handler(_request, reply) {
      return reply.type(backupMediaType).send(await takeBackup(kernel))
    },
  })

  // In a scope of its own: no other route takes a body that flows, and is of any length.
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
        awaitBody(request.raw)
      },
      async handler(request) {
        const body = bodies.get(request)
        if (!body) throw refuse.unsupported_media_type()
        return restoreBackup(kernel, keys, body)
      },
    })
  })
}
