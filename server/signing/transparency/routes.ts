import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/signing/transparency'
import type { FastifyRequest } from 'fastify'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'
import { listKeyEvents } from './event.ts'
import { publicJwkOf } from './log-key.ts'
import { readLog } from './log.ts'
import { proveConsistency, proveInclusion } from './proof.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_tree_size: [400, 'The log has not been of that size, or not at that size of the other.'],
  leaf_not_found: [404, 'There is no such leaf in the log of that size.'],
})

/** The largest integer of a column. */
const placeMax = 2 ** 31 - 1

/** The log of signing keys, for everybody. */
export function transparencyRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const onRequest = limit(kernel)
  proofRoutes(host, kernel)

  host.route({
    ...endpoints.readCheckpoint,
    onRequest,
    async handler(_request, reply) {
      const { checkpoint } = await readLog(kernel, clock())
      return reply.type('text/plain; charset=utf-8').send(checkpoint)
    },
  })

  host.route({
    ...endpoints.readLogKeys,
    onRequest,
    async handler() {
      const { origin, publicKey, createdAt } = await readLog(kernel, clock())
      const verifierKey = writeVerifierKey(sha256, { name: origin, publicKey })
      return { keys: [publicJwkOf(publicKey)], origin, verifierKey, createdAt: createdAt.toISOString() }
    },
  })

  host.route({
    ...endpoints.listLeaves,
    onRequest,
    async handler({ query: { start, count } }) {
      const { size } = await readLog(kernel, clock())
      const from = Math.min(placeOf(start), size)
      const to = Math.min(
        from + Number(count ?? limits.transparencyLeavesMax),
        from + limits.transparencyLeavesMax,
        size,
      )
      const leaves = await store.listLeaves(db, from, to - from)
      return { size, leaves: leaves.map(({ index, leaf }) => ({ index, leaf })) }
    },
  })

  host.route({
    ...endpoints.listKeyEvents,
    onRequest,
    async handler({ params: { identityId }, query: { start = '0', count } }) {
      const most = limits.transparencyEventsMax
      const page = { start: placeOf(start), count: Math.min(Number(count ?? most), most) }
      return listKeyEvents(kernel, { identityId, ...page }, clock())
    },
  })
}

function proofRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const onRequest = limit(kernel)

  host.route({
    ...endpoints.proveInclusion,
    onRequest,
    async handler({ query }) {
      const size = await requireSize(query.size)
      const leafHash = fromCanonicalBase64(query.leafHash)
      const leaf = leafHash && (await store.findLeafByHash(db, leafHash))
      if (!leaf || leaf.index >= size) throw refuse.leaf_not_found()
      return { index: leaf.index, size, hashes: await proveInclusion(db, leaf.index, size) }
    },
  })

  host.route({
    ...endpoints.proveConsistency,
    onRequest,
    async handler({ query }) {
      const to = await requireSize(query.to)
      const from = Number(query.from)
      if (from > to) throw refuse.invalid_tree_size()
      return { from, to, hashes: await proveConsistency(db, from, to) }
    },
  })

  /** A size that the log has now or has had. */
  async function requireSize(asked: string | undefined): Promise<number> {
    const { size } = await readLog(kernel, clock())
    const wanted = asked === undefined ? size : Number(asked)
    if (wanted > size) throw refuse.invalid_tree_size()
    return wanted
  }
}

/** A place as the database takes it: none that is larger has a leaf. */
function placeOf(text: string): number {
  return Math.min(Number(text), placeMax)
}

function limit({ rateLimits }: Kernel) {
  return (request: FastifyRequest) => rateLimits.count('metadata', addressKey(request))
}
