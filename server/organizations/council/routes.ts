import * as endpoints from '@countersign/protocol/organizations/council'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { getCouncil } from './council.ts'
import { completeReset, requestReset, vetoReset } from './reset.ts'
import { admitSignatory, suspendSignatory } from './signatory.ts'

type Deciding = { kernel: ServerContext }

/** What members have to sign. */
export const acts = [
  signable(endpoints.admitSignatory, async ({ kernel }: Deciding, { asking, body }, now) => ({
    council: await admitSignatory(kernel, { ...asking, signatoryId: body.identityId }, now),
  })),
  signable(endpoints.suspendSignatory, async ({ kernel }: Deciding, { asking, params }, now) => ({
    council: await suspendSignatory(kernel, { ...asking, signatoryId: params.identityId }, now),
  })),
  signable(endpoints.requestCouncilReset, async ({ kernel }: Deciding, { asking }, now) => ({
    council: await requestReset(kernel, asking, now),
  })),
  signable(endpoints.completeCouncilReset, async ({ kernel }: Deciding, { asking }, now) => ({
    council: await completeReset(kernel, asking, now),
  })),
]

/** Routes for the council of an organization, on the business host. */
export function councilRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  signableRoutes(host, { kernel }, acts)

  host.route({
    ...endpoints.getCouncil,
    onRequest: session.onRequest,
    async handler(request) {
      const acting = session.of(request)
      return { council: await getCouncil(kernel, { ...memberContextOf(request, acting), session: acting }, clock()) }
    },
  })

  host.route({
    ...endpoints.vetoCouncilReset,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { organizationId } = request.params
      await vetoReset(kernel, { session: session.of(request), organizationId }, clock())
      return reply.status(204).send(null)
    },
  })
}
