import * as endpoints from '@countersign/protocol/oauth/token-keys'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { rotateKeys } from './key-rotation.ts'
import { publishedUntil, stateOf } from './key-schedule.ts'
import * as store from './store.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The operator's hand on the keys that sign tokens. */
export function signingKeyRoutes(host: Host, kernel: Kernel, keys: SigningKeys): void {
  const { db, clock } = kernel
  const { onRequest } = adminGuard(kernel)

  host.route({
    ...endpoints.listTokenSigningKeys,
    onRequest,
    handler: () => listPublished(db, clock()),
  })

  host.route({
    ...endpoints.rotateTokenSigningKeys,
    onRequest,
    async handler({ body }, reply) {
      const now = clock()
      await rotateKeys(kernel, { atOnce: body?.atOnce ?? false }, now)
      await keys.readAnew()
      return reply.status(201).send(await listPublished(db, now))
    },
  })
}

/** The keys that are published at an instant, the newest first. */
async function listPublished(db: Kernel['db'], now: Date): Promise<endpoints.SigningKeyList> {
  const all = await store.listKeys(db)
  const keys = all.map((key) => ({ ...key, until: publishedUntil(key, all), state: stateOf(key, all, now) }))
  return {
    keys: keys
      .filter(({ until }) => until === null || until > now)
      .map(({ kid, algorithm, state, createdAt, signsAt, until }) => ({
        kid,
        algorithm,
        state,
        createdAt: createdAt.toISOString(),
        signsAt: signsAt.toISOString(),
        publishedUntil: until && until.toISOString(),
      })),
  }
}
