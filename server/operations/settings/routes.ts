import * as endpoints from '@countersign/protocol/operations/settings'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { entityTagOf, versionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { getSettings, listSettingRevisions, restoreRevision, updateSettings } from './settings.ts'

const revisionsDefault = 50

/** Registers the settings that operators can change. */
export function settingRoutes(host: Host, kernel: ServerContext): void {
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.getSettings,
    onRequest,
    async handler(_request, reply) {
      const settings = await getSettings(kernel)
      return reply.header('etag', entityTagOf(settings.revision)).send(settings)
    },
  })

  host.route({
    ...endpoints.updateSettings,
    onRequest,
    async handler(request, reply) {
      const target = { operator: of(request), replaced: versionIn(request.headers['if-match']) }
      const settings = await updateSettings(kernel, target, request.body.settings)
      return reply.header('etag', entityTagOf(settings.revision)).send(settings)
    },
  })

  host.route({
    ...endpoints.listSettingRevisions,
    onRequest,
    handler: ({ query: { cursor, limit } }) =>
      listSettingRevisions(kernel, {
        before: cursor === undefined ? undefined : Number(cursor),
        count: Number(limit ?? revisionsDefault),
      }),
  })

  host.route({
    ...endpoints.restoreSettingRevision,
    onRequest,
    async handler(request, reply) {
      const target = { operator: of(request), replaced: versionIn(request.headers['if-match']) }
      const settings = await restoreRevision(kernel, target, Number(request.params.revision))
      return reply.header('etag', entityTagOf(settings.revision)).send(settings)
    },
  })
}
