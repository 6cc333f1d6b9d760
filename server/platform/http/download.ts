import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '#platform/observability/log.ts'
import type { Host } from './host.ts'

type Download = { pieces: AsyncIterable<string>; fileName: string }

/**
 * Sends JSON in pieces, as a file. An error before the first piece is answered like any other error; later it ends the
 * response, and is logged.
 */
export function sendDownload(
  { host, log }: { host: Pick<Host, 'release'>; log: Logger },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { pieces, fileName }: Download,
): FastifyReply {
  // The client's speed determines the duration, so the request must not count against the concurrency limit.
  host.release(request)
  const text = Readable.from(pieces)
  text.once('error', (error) => {
    if (reply.raw.headersSent) log.error({ error, fileName }, 'download aborted')
  })
  reply.header('content-disposition', `attachment; filename="${fileName}"`)
  return reply.type('application/json; charset=utf-8').send(text)
}
