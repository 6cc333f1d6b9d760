import * as endpoints from '@countersign/protocol/organizations/keys'
import type { Host } from '#platform/http/host.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import type { KeyDeps } from './custody.ts'
import { createKey, deleteKey, shareKey, listKeys, listMemberKeyWraps } from './key.ts'
import { giveUpKey } from './key-surrender.ts'
import { readKms, removeKms, setKms } from './kms.ts'

/** What members may have to sign. */
export const acts = [
  signable(endpoints.createOrganizationKey, async (keeping: KeyDeps, { asking, body }, now) => ({
    key: await createKey(keeping, asking, body, now),
  })),
  signable(endpoints.deleteOrganizationKey, async ({ kernel }: KeyDeps, { asking, params }, now) => {
    await deleteKey(kernel, { ...asking, keyId: params.keyId }, now)
    return null
  }),
  signable(endpoints.shareOrganizationKey, async ({ kernel }: KeyDeps, { asking, params, body }, now) => ({
    wraps: await shareKey(kernel, { ...asking, keyId: params.keyId }, body.wraps, now),
  })),
  signable(endpoints.setKms, async (keeping: KeyDeps, { asking, body }, now) => ({
    kms: await setKms(keeping, asking, body.url, now),
  })),
  signable(endpoints.removeKms, async ({ kernel }: KeyDeps, { asking }, now) => {
    await removeKms(kernel, asking, now)
    return null
  }),
]

/** Routes for the keys of an organization, on the business host. */
export function keyRoutes(host: Host, keeping: KeyDeps): void {
  const { kernel } = keeping
  const { clock } = kernel
  const session = sessionGuard(kernel)
  signableRoutes(host, keeping, acts)

  host.route({
    ...endpoints.getKms,
    onRequest: session.onRequest,
    async handler(request) {
      return { kms: await readKms(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.listOrganizationKeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { keys: await listKeys(kernel, memberContextOf(request, session.of(request)), clock()) }
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
    ...endpoints.giveUpKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = { ...memberContextOf(request, session.of(request)), keyId: request.params.keyId }
      await giveUpKey(kernel, asking, clock())
      return reply.status(204).send(null)
    },
  })
}
