import * as endpoints from '@countersign/protocol/oauth/token-keys'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { publishUntil, rotateTokenSigningKeys, stateOf } from './rotation.ts'
import * as store from './store.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Registers the operator's endpoints for token-signing keys. */
export function signingKeyRoutes(host: Host, kernel: ServerContext, keys: SigningKeys): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listTokenSigningKeys,
    onRequest,
    handler: () => listPublished(db, clock()),
  })

  host.route({
    ...endpoints.rotateTokenSigningKeys,
    onRequest,
    async handler(request, reply) {
      const now = clock()
      await rotateTokenSigningKeys(kernel, of(request), { atOnce: request.body?.atOnce ?? false }, now)
      await keys.readAnew()
      return reply.status(201).send(await listPublished(db, now))
    },
  })
}

/** Lists the keys that are published at an instant, newest first. */
async function listPublished(db: ServerContext['db'], now: Date): Promise<endpoints.SigningKeyList> {
  const all = await store.listKeys(db)
  const keys = all.map((key) => ({ ...key, until: publishUntil(key, all), state: stateOf(key, all, now) }))
  return {
    keys: keys
      .filter(({ until }) => until === null || until > now)
      .map(({ kid, algorithm, state, createdAt, activatesAt, until }) => ({
        kid,
        algorithm,
        state,
        createdAt: createdAt.toISOString(),
        activatesAt: activatesAt.toISOString(),
        publishedUntil: until && until.toISOString(),
      })),
  }
}
