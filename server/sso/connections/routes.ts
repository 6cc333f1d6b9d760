import * as endpoints from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
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

type Connecting = { kernel: ServerContext }

/** Metadata of a provider, in which a character may take two escapes. */
const options = { bodyLimit: 2 * limits.samlMetadataBytesMax }

/** What members may have to sign. */
export const acts = [
  signable(
    endpoints.createSsoConnection,
    async ({ kernel }: Connecting, { asking, body }, now) => ({
      connection: await createConnection(kernel, asking, body, now),
    }),
    options,
  ),
  signable(
    endpoints.updateSsoConnection,
    async ({ kernel }: Connecting, { asking, params, body }, now) => ({
      connection: await updateConnection(kernel, { ...asking, ...params }, body, now),
    }),
    options,
  ),
  signable(endpoints.deleteSsoConnection, async ({ kernel }: Connecting, { asking, params }, now) => {
    await deleteConnection(kernel, { ...asking, ...params }, now)
    return null
  }),
  signable(endpoints.confirmSsoConnection, async ({ kernel }: Connecting, { asking, params }, now) => ({
    connection: await confirmConnection(kernel, { ...asking, ...params }, now),
  })),
  signable(endpoints.createSsoEncryptionKey, async ({ kernel }: Connecting, { asking, params }, now) => ({
    connection: await createEncryptionKey(kernel, { ...asking, ...params }, now),
  })),
  signable(endpoints.deleteSsoEncryptionKey, async ({ kernel }: Connecting, { asking, params }, now) => {
    await removeEncryptionKey(kernel, { ...asking, ...params }, now)
    return null
  }),
]

/** Routes for the SSO connections of an organization, on the business host. */
export function ssoConnectionRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  signableRoutes(host, { kernel }, acts)

  host.route({
    ...endpoints.listSsoConnections,
    onRequest: session.onRequest,
    async handler(request) {
      return listConnections(kernel, memberContextOf(request, session.of(request)), clock())
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
}
