import * as endpoints from '@countersign/protocol/operations/settings'
import { limits } from '@countersign/protocol/formats/limits'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { entityTagOf, versionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { acceptPictureBodies, countUpload, pictureBodyOf } from '#platform/pictures/upload.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { getSettings, listSettingRevisions, restoreRevision, setLogo, updateSettings } from './settings.ts'

const revisionsDefault = 50

type SettingServices = { kernel: ServerContext; workshop: Workshop }

/** Registers the settings that operators can change. */
export function settingRoutes(host: Host, services: SettingServices): void {
  const { kernel } = services
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

  host.register(async (scope) => {
    acceptPictureBodies(scope)
    scope.withTypeProvider<TypeBoxTypeProvider>().route({
      ...endpoints.setLogo,
      bodyLimit: limits.pictureBytesMax,
      async onRequest(request, reply) {
        await onRequest(request)
        await countUpload(kernel.rateLimits, { by: 'operator', counted: undefined }, reply)
      },
      async handler(request, reply) {
        const target = { operator: of(request), replaced: versionIn(request.headers['if-match']) }
        const settings = await setLogo(services, target, pictureBodyOf(request))
        return reply.header('etag', entityTagOf(settings.revision)).send(settings)
      },
    })
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
