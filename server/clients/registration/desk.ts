import type { FastifyRequest } from 'fastify'
import type { Kernel } from '#platform/module/services.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { createChangesAtOnce } from './changes-at-once.ts'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Steward } from './steward.ts'

/** Where one kind of steward looks after apps: the guard that lets these through, and who it was. */
export type Desk = {
  onRequest: (request: FastifyRequest) => Promise<void>
  /** The same before what changes or sends something. */
  onChange: (request: FastifyRequest) => Promise<void>
  stewardOf: (request: FastifyRequest) => Steward
  /** Does what may have to wait until it holds everywhere; refuses `rate_limited` where a person has much of that. */
  whileChanging: <Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>
}

/** An endpoint with the bodies and answers of this one, wherever it is. */
export type Addressed<Endpoint extends { name: string }> = Omit<Endpoint, 'name'>

/** The admin API: every app. */
export function operatorDesk(kernel: Kernel): Desk {
  const { onRequest, of } = adminGuard(kernel)
  return { onRequest, onChange: onRequest, stewardOf: of, whileChanging: (_request, work) => work() }
}

/** The developer portal: a person's own apps. */
export function personDesk(kernel: Kernel): Desk {
  const { onRequest, of } = sessionGuard(kernel)
  const atOnce = createChangesAtOnce()
  return {
    onRequest,
    async onChange(request) {
      await onRequest(request)
      // Otherwise anybody with an account could take every key and audience that others would want, have us knock at
      // any door, and keep requests here until their changes hold in every process.
      await kernel.rateLimits.count('app change of a person', ownKey(of(request), kernel.clock()))
    },
    stewardOf: (request) => ({ actor: 'person', session: of(request) }),
    whileChanging: (request, work) => atOnce.run(of(request).userId, work),
  }
}
