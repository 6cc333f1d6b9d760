import * as endpoints from '@countersign/protocol/pictures'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { BrandLogo } from './brand-logo.ts'
import { findPicture } from './picture.ts'
import { pictureSizes, type PictureSize } from './workshop.ts'

export type PictureServices = { kernel: ServerContext; brandLogo: BrandLogo | undefined }

const errors = defineErrors({ picture_not_found: [404, 'There is no such picture.'] })

/** A picture is inert wherever it is opened, may be shown by any app, and never changes under its ID. */
const headers = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-disposition': 'inline; filename="picture.webp"',
}

/** Registers the pictures, which anyone may read who knows their IDs. */
export function pictureRoutes(host: Host, { kernel, brandLogo }: PictureServices): void {
  const { db, clock, rateLimits } = kernel

  const show = async (
    request: Pick<FastifyRequest, 'ip'>,
    reply: FastifyReply,
    { pictureId, size }: { pictureId: string; size: PictureSize },
  ) => {
    await rateLimits.count('picture-reads', clientAddressKey(request))
    const bytes =
      brandLogo?.pictureId === pictureId ? brandLogo.rendered[size] : await findPicture(db, pictureId, size, clock())
    if (!bytes) throw errors.picture_not_found()
    return reply.headers(headers).type('image/webp').send(Buffer.from(bytes))
  }

  host.route({
    ...endpoints.getPicture,
    handler: (request, reply) => show(request, reply, { ...request.params, size: 256 }),
  })

  host.route({
    ...endpoints.getPictureOfSize,
    handler(request, reply) {
      const size = pictureSizes.find((known) => String(known) === request.params.size)
      if (size === undefined) throw errors.picture_not_found()
      return show(request, reply, { pictureId: request.params.pictureId, size })
    },
  })
}
