import * as endpoints from '@countersign/protocol/organizations/keys'
import type { Host } from '#platform/http/host.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import type { KeyDeps } from './custody.ts'
import { createKey, deleteKey, shareKey, listKeys, listMemberKeyWraps } from './key.ts'
import { giveUpKey } from './key-surrender.ts'
import { readKms, removeKms, setKms } from './kms.ts'

/** Routes for the keys of an organization, on the business host. */
export function keyRoutes(host: Host, keeping: KeyDeps): void {
  const { kernel } = keeping
  const { clock } = kernel
  const session = sessionGuard(kernel)
  kmsRoutes(host, keeping)

  host.route({
    ...endpoints.listOrganizationKeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { keys: await listKeys(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.createOrganizationKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      return reply.status(201).send({ key: await createKey(keeping, asking, request.body, clock()) })
    },
  })

  host.route({
    ...endpoints.deleteOrganizationKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), keyId: request.params.keyId }
      await deleteKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.listOrganizationKeyWraps,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...memberContextOf(request, session.of(request)), keyId: request.params.keyId }
      return { wraps: await listMemberKeyWraps(keeping, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.shareOrganizationKey,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...memberContextOf(request, session.of(request)), keyId: request.params.keyId }
      return { wraps: await shareKey(kernel, asking, request.body.wraps, clock()) }
    },
  })

  host.route({
    ...endpoints.giveUpKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), keyId: request.params.keyId }
      await giveUpKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Routes for the KMS of an organization. */
function kmsRoutes(host: Host, keeping: KeyDeps): void {
  const { kernel } = keeping
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.getKms,
    onRequest: session.onRequest,
    async handler(request) {
      return { kms: await readKms(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.setKms,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = memberContextOf(request, session.of(request))
      return { kms: await setKms(keeping, asking, request.body.url, clock()) }
    },
  })

  host.route({
    ...endpoints.removeKms,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await removeKms(kernel, memberContextOf(request, session.of(request)), clock())
      return reply.status(204).send(null)
    },
  })
}
