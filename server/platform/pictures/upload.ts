import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { defineErrors } from '#platform/api-error.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import type { RateLimits } from '#platform/rate-limits/rate-limit.ts'

const errors = defineErrors({
  unsupported_media_type: [415, 'Send a picture as PNG, JPEG or WebP.'],
  rate_limited: [429, 'Too many pictures are being uploaded at once. Retry later.'],
  temporarily_unavailable: [503, 'Too many pictures are being uploaded. Retry later.'],
})

/** Uploads of a process at once, which together hold 64 MiB, and those of one user. */
const uploadsMax = 32
const uploadsOfUserMax = 4

const bodies = new WeakMap<FastifyRequest, Buffer>()
const uploads = new Map<string, number>()

/**
 * Makes the routes of a scope accept a picture as their body, of any declared type: its first bytes decide what it is,
 * after the caller was authenticated.
 */
export function acceptPictureBodies(
  scope: Pick<FastifyInstance, 'addContentTypeParser' | 'removeAllContentTypeParsers'>,
) {
  scope.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit: limits.pictureBytesMax } as const
  scope.addContentTypeParser('*', options, async (request: FastifyRequest, body: Buffer) => {
    bodies.set(request, body)
  })
}

/** Returns the uploaded picture. Throws `unsupported_media_type` for a request without a body. */
export function pictureBodyOf(request: FastifyRequest): Buffer {
  const body = bodies.get(request)
  if (!body) throw errors.unsupported_media_type()
  return body
}

/** Who uploads, and the key under which their uploads are limited; the operator's are not. */
type Uploader = { by: string; counted: PersonKey | undefined }

/**
 * Counts an upload before its body arrives, and takes a place for it until it is answered: a body that never arrives
 * holds its place too. Throws `rate_limited`, or `temporarily_unavailable` if the process has too many.
 */
export async function countUpload(rateLimits: RateLimits, { by, counted }: Uploader, reply: FastifyReply) {
  takePlace(by, reply)
  if (counted) await rateLimits.count('picture-uploads-per-user', counted)
}

function takePlace(by: string, reply: FastifyReply): void {
  const own = uploads.get(by) ?? 0
  const headers = { 'retry-after': '5' }
  if (own >= uploadsOfUserMax) throw errors.rate_limited({ headers })
  if (uploads.values().reduce((sum, count) => sum + count, 0) >= uploadsMax)
    throw errors.temporarily_unavailable({ headers })
  uploads.set(by, own + 1)
  let isCounted = true
  const release = () => {
    if (!isCounted) return
    isCounted = false
    const left = (uploads.get(by) ?? 1) - 1
    if (left === 0) uploads.delete(by)
    else uploads.set(by, left)
  }
  reply.raw.once('finish', release).once('close', release)
}
