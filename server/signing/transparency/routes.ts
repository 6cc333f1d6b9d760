import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/signing/transparency'
import type { FastifyRequest } from 'fastify'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'
import { listAuditHeads } from './audit-head.ts'
import { listKeyEvents } from './event.ts'
import { getTreeHead, publicJwkOf } from './log.ts'
import { getConsistencyProof, getInclusionProof } from './merkle.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_tree_size: [400, 'Unknown tree size, or the first size is larger than the second.'],
  leaf_not_found: [404, 'The log of this size has no such leaf.'],
})

/** Largest value of an integer column. */
const placeMax = 2 ** 31 - 1

/** Registers the public routes of the log of signing keys. */
export function transparencyRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const onRequest = limit(kernel)
  proofRoutes(host, kernel)

  host.route({
    ...endpoints.getCheckpoint,
    onRequest,
    async handler(_request, reply) {
      const { checkpoint } = await getTreeHead(kernel, clock())
      return reply.type('text/plain; charset=utf-8').send(checkpoint)
    },
  })

  host.route({
    ...endpoints.readLogKeys,
    onRequest,
    async handler() {
      const { origin, publicKey, createdAt } = await getTreeHead(kernel, clock())
      const verifierKey = writeVerifierKey(sha256, { name: origin, publicKey })
      return { keys: [publicJwkOf(publicKey)], origin, verifierKey, createdAt: createdAt.toISOString() }
    },
  })

  host.route({
    ...endpoints.listLeaves,
    onRequest,
    async handler({ query: { start, count } }) {
      const { size } = await getTreeHead(kernel, clock())
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
    ...endpoints.listAuditHeads,
    onRequest,
    handler: ({ query: { start = '0' } }) => listAuditHeads(kernel, placeOf(start), clock()),
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

function proofRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const onRequest = limit(kernel)

  host.route({
    ...endpoints.getInclusionProof,
    onRequest,
    async handler({ query }) {
      const size = await requireSize(query.size)
      const leafHash = fromCanonicalBase64(query.leafHash)
      const leaf = leafHash && (await store.findLeafByHash(db, leafHash))
      if (!leaf || leaf.index >= size) throw errors.leaf_not_found()
      return { index: leaf.index, size, hashes: await getInclusionProof(db, leaf.index, size) }
    },
  })

  host.route({
    ...endpoints.getConsistencyProof,
    onRequest,
    async handler({ query }) {
      const to = await requireSize(query.to)
      const from = Number(query.from)
      if (from > to) throw errors.invalid_tree_size()
      return { from, to, hashes: await getConsistencyProof(db, from, to) }
    },
  })

  /** Parses a current or former size of the log. */
  async function requireSize(input: string | undefined): Promise<number> {
    const { size } = await getTreeHead(kernel, clock())
    const requested = input === undefined ? size : Number(input)
    if (requested > size) throw errors.invalid_tree_size()
    return requested
  }
}

/** Limits an index to what the database accepts: no larger index has a leaf. */
function placeOf(text: string): number {
  return Math.min(Number(text), placeMax)
}

function limit({ rateLimits }: ServerContext) {
  return (request: FastifyRequest) => rateLimits.count('metadata', clientAddressKey(request))
}
