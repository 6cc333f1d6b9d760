import * as endpoints from '@countersign/protocol/organizations/keys'
import type { Host } from '#platform/http/http.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { askingOf } from '#organizations/membership/access.ts'
import type { Keeping } from './custody.ts'
import { createKey, deleteKey, grantKey, listKeys, readGrants } from './key.ts'
import { giveUpKey } from './key-surrender.ts'
import { readKms, removeKms, setKms } from './kms.ts'

/** The keys of an organization, on the business host. */
export function keyRoutes(host: Host, keeping: Keeping): void {
  const { kernel } = keeping
  const { clock } = kernel
  const session = sessionGuard(kernel)
  kmsRoutes(host, keeping)

  host.route({
    ...endpoints.listOrganizationKeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { keys: await listKeys(kernel, askingOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.createOrganizationKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = askingOf(request, session.of(request))
      return reply.status(201).send({ key: await createKey(keeping, asking, request.body, clock()) })
    },
  })

  host.route({
    ...endpoints.deleteOrganizationKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), keyId: request.params.keyId }
      await deleteKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.readKeyGrants,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), keyId: request.params.keyId }
      return { wraps: await readGrants(keeping, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.grantKey,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), keyId: request.params.keyId }
      return { wraps: await grantKey(kernel, asking, request.body.wraps, clock()) }
    },
  })

  host.route({
    ...endpoints.giveUpKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), keyId: request.params.keyId }
      await giveUpKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Where an organization keeps its keys itself. */
function kmsRoutes(host: Host, keeping: Keeping): void {
  const { kernel } = keeping
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.readKms,
    onRequest: session.onRequest,
    async handler(request) {
      return { kms: await readKms(kernel, askingOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.setKms,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = askingOf(request, session.of(request))
      return { kms: await setKms(keeping, asking, request.body.url, clock()) }
    },
  })

  host.route({
    ...endpoints.removeKms,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await removeKms(kernel, askingOf(request, session.of(request)), clock())
      return reply.status(204).send(null)
    },
  })
}
