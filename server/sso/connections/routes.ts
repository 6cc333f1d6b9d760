import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { askingOf } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import {
  changeConnection,
  confirmConnection,
  createConnection,
  deleteConnection,
  listConnections,
  readConnection,
} from './connection.ts'
import { createEncryptionKey, removeEncryptionKey } from './encryption-key.ts'
import { offerTest } from '#sso/sign-in/flow.ts'
import { createScimToken, deleteScimToken } from '#sso/provisioning/directory.ts'

/** What those do with an organization's connections who look after them, on the business host. */
export function ssoConnectionRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  standingRoutes(host, kernel)
  scimTokenRoutes(host, kernel)
  encryptionKeyRoutes(host, kernel)

  host.route({
    ...endpoints.listSsoConnections,
    onRequest: session.onRequest,
    async handler(request) {
      return { connections: await listConnections(kernel, askingOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.createSsoConnection,
    bodyLimit: 2 * limits.samlMetadataBytesMax,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = askingOf(request, session.of(request))
      const connection = await createConnection(kernel, asking, request.body, clock())
      return reply.status(201).send({ connection })
    },
  })

  host.route({
    ...endpoints.readSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      return { connection: await readConnection(kernel, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.changeSsoConnection,
    bodyLimit: 2 * limits.samlMetadataBytesMax,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      return { connection: await changeConnection(kernel, asking, request.body, clock()) }
    },
  })

  host.route({
    ...endpoints.deleteSsoConnection,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      await deleteConnection(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** What makes a connection count: that it was tested, and that an owner has confirmed it. */
function standingRoutes(host: Host, kernel: Kernel): void {
  const { config, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.confirmSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      return { connection: await confirmConnection(kernel, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.testSsoConnection,
    onRequest: session.onRequest,
    async handler(request) {
      const now = clock()
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      const { connectionId } = asking
      const test = await offerTest(kernel, asking, now)
      return { url: `${config.baseUrl.origin}/api/sso/${connectionId}/start?test=${test}` }
    },
  })
}

/** The key to which the SAML provider of a connection is to encrypt its answers. */
function encryptionKeyRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.createSsoEncryptionKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      return reply.status(201).send({ connection: await createEncryptionKey(kernel, asking, clock()) })
    },
  })

  host.route({
    ...endpoints.deleteSsoEncryptionKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      await removeEncryptionKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}

/** The token with which an organization's directory says who may come. */
function scimTokenRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.createScimToken,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      return reply.status(201).send(await createScimToken(kernel, asking, request.body.subjectBy, clock()))
    },
  })

  host.route({
    ...endpoints.deleteScimToken,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...askingOf(request, session.of(request)), ...request.params }
      await deleteScimToken(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}
