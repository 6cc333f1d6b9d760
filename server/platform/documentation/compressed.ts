import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { namesEntityTag } from '#platform/http/entity-tag.ts'

/** A text that many readers get: encoded once, however many read it and however slowly. */
export type CompressedText = {
  send: (request: Pick<FastifyRequest, 'headers'>, reply: FastifyReply) => Promise<FastifyReply>
}

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)]
const cacheSeconds = 300

/**
 * Prepares a text. It is created and compressed when the first reader asks for it, and again when `version` has
 * changed.
 */
export function compressText(
  mediaType: string,
  create: () => string | Promise<string>,
  version: () => string = () => '',
): CompressedText {
  let original: Promise<{ bytes: Buffer; etag: string }> | undefined
  let versionRead = version()
  const encoded = new Map<string, Promise<Buffer>>()
  const read = async () => {
    const bytes = Buffer.from(await create())
    return { bytes, etag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22) }
  }
  return {
    async send({ headers }, reply) {
      if (version() !== versionRead) {
        versionRead = version()
        original = undefined
        encoded.clear()
      }
      const { bytes, etag } = await (original ??= read())
      const encoding = encodingFor(headers['accept-encoding'])
      // An encoding has an entity tag of its own (RFC 9110 §8.8.3.3).
      const tag = `"${etag}${encoding === 'identity' ? '' : `-${encoding}`}"`
      reply.header('vary', 'accept-encoding').header('etag', tag)
      reply.header('cache-control', `public, max-age=${cacheSeconds}`)
      if (namesEntityTag(headers['if-none-match'], tag)) return reply.status(304).send()
      reply.type(mediaType)
      if (encoding === 'identity') return reply.send(bytes)
      const body = encoded.get(tag) ?? encode[encoding](bytes)
      encoded.set(tag, body)
      return reply.header('content-encoding', encoding).send(await body)
    },
  }
}

type Encoding = 'br' | 'gzip'

const encode: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => toBrotli(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: (bytes) => toGzip(bytes, { level: 9 }),
}

/** Returns the smallest encoding that a client accepts. One that it forbids has the quality 0. */
function encodingFor(accepted: string | string[] | undefined): Encoding | 'identity' {
  const ranges = String(accepted ?? '')
    .toLowerCase()
    .split(',')
  const accepts = (name: Encoding) =>
    ranges.some((range) => {
      const [coding, quality = 'q=1'] = range.split(';').map((part) => part.trim())
      return coding === name && Number(quality.replace('q=', '')) > 0
    })
  if (accepts('br')) return 'br'
  return accepts('gzip') ? 'gzip' : 'identity'
}
