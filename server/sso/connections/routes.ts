import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import {
  updateConnection,
  confirmConnection,
  createConnection,
  deleteConnection,
  listConnections,
  getConnection,
} from './connection.ts'
import { createEncryptionKey, removeEncryptionKey } from './encryption-key.ts'

/** Routes for the SSO connections of an organization, on the business host. */
export function ssoConnectionRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  confirmationRoutes(host, kernel)
  encryptionKeyRoutes(host, kernel)

  host.route({
    ...endpoints.listSsoConnections,
    onRequest: session.onRequest,
    async handler(request) {
      return { connections: await listConnections(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.createSsoConnection,
    bodyLimit: 2 * limits.samlMetadataBytesMax,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      const connection = await createConnection(kernel, asking, request.body, clock())
      return reply.status(201).send({ connection })
    },
  })

  host.route({
    ...endpoints.getSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      return { connection: await getConnection(kernel, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.updateSsoConnection,
    bodyLimit: 2 * limits.samlMetadataBytesMax,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      return { connection: await updateConnection(kernel, asking, request.body, clock()) }
    },
  })

  host.route({
    ...endpoints.deleteSsoConnection,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      await deleteConnection(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Route for confirming a connection. */
function confirmationRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.confirmSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      return { connection: await confirmConnection(kernel, asking, clock()) }
    },
  })
}

/** Routes for the key to which the SAML provider of a connection encrypts assertions. */
function encryptionKeyRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.createSsoEncryptionKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      return reply.status(201).send({ connection: await createEncryptionKey(kernel, asking, clock()) })
    },
  })

  host.route({
    ...endpoints.deleteSsoEncryptionKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), ...request.params }
      await removeEncryptionKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}
