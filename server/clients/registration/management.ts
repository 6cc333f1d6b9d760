import type { FastifyRequest } from 'fastify'
import type { ClientId, UserId } from '@countersign/protocol/ids'
import type { ServerContext } from '#platform/module/services.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { type Session, requireRecentAuthentication, sessionGuard } from '#accounts/sessions/session.ts'
import { createChangesAtOnce } from './changes-at-once.ts'
import {
  adminGuard,
  auditFieldsOf,
  type Operator,
  operatorTransaction,
  requireRecentAuthenticationOfOperator,
} from '#accounts/operators/operator-guard.ts'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { RegisteredApp } from './directory.ts'

/** Access to app management for one kind of manager: the guard, and the manager of a request. */
export type ManagementApi = {
  onRequest: (request: FastifyRequest) => Promise<void>
  /** Guard for requests that change or send something. */
  onChange: (request: FastifyRequest) => Promise<void>
  managerOf: (request: FastifyRequest) => AppManager
  /**
   * Runs work that may wait until all processes apply it. Throws `rate_limited` if a user has too much of it in
   * progress.
   */
  whileChanging: <Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>
}

/** Schemas of an endpoint, independent of its path. */
export type EndpointShape<Endpoint extends { name: string }> = Omit<Endpoint, 'name'>

/** Returns the management API of the operator, for all apps. */
export function adminManagementApi(kernel: ServerContext): ManagementApi {
  const { onRequest, of } = adminGuard(kernel)
  return { onRequest, onChange: onRequest, managerOf: of, whileChanging: (_request, work) => work() }
}

/** Returns the management API of the developer portal, for a user's own apps. */
export function developerManagementApi(kernel: ServerContext): ManagementApi {
  const { onRequest, of } = sessionGuard(kernel)
  const atOnce = createChangesAtOnce()
  return {
    onRequest,
    async onChange(request) {
      await onRequest(request)
      // Otherwise any user could claim all resource keys and audiences, make the service connect to arbitrary hosts,
      // and keep requests waiting until their changes apply in all processes.
      await kernel.rateLimits.count('app-changes-per-user', ownKey(of(request), kernel.clock()))
    },
    managerOf: (request) => ({ actor: 'user', session: of(request) }),
    whileChanging: (request, work) => atOnce.run(of(request).userId, work),
  }
}

const errors = defineErrors({
  disabled_by_operator: [403, 'Disabled by the operator. Only the operator can enable it again.'],
})

/** Creates the error for enabling something that the operator has disabled. */
export const disabledByOperatorError = errors.disabled_by_operator

/** Manager of apps: an operator for all apps, a user for the apps that they registered. */
export type AppManager = Operator | { actor: 'user'; session: Session }

/** Reference to an app by a manager whose access is not yet checked. */
export type ManagedAppRef = { manager: AppManager; clientId: ClientId }

/** Runs a change on behalf of a manager, like `actingUserTransaction` or `operatorTransaction`. */
export function managerTransaction<Result>(
  db: Database,
  manager: AppManager,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return manager.actor === 'user'
    ? actingUserTransaction(db, manager.session, work)
    : operatorTransaction(db, manager, work)
}

/** Returns the owner of an app that a manager registers, or null for the operator. */
export function ownerUserIdOf(manager: AppManager): UserId | null {
  return manager.actor === 'user' ? manager.session.userId : null
}

export function canManageApp(manager: AppManager, { ownerUserId }: Pick<RegisteredApp, 'ownerUserId'>): boolean {
  return manager.actor === 'operator' || ownerUserId === manager.session.userId
}

/** Returns the actor fields of a manager for audit events. */
export function auditActor(manager: AppManager) {
  const { actor } = manager
  return actor === 'user' ? { actor, userId: manager.session.userId } : auditFieldsOf(manager)
}

/** Throws `reauthentication_required` if a user or an operator with a session has not authenticated recently. */
export function requireRecentAuthenticationOf(manager: AppManager, now: Date): void {
  if (manager.actor === 'operator') return requireRecentAuthenticationOfOperator(manager, now)
  requireRecentAuthentication(manager.session, now)
}

/**
 * Returns whether something stays disabled by the operator after a change. Throws `disabled_by_operator` if its owner
 * would enable it.
 */
export function nextOperatorDisabled(
  manager: AppManager,
  { disabledByOperator }: { disabledByOperator: boolean },
  { status }: { status?: 'active' | 'disabled' | undefined },
): boolean {
  if (status === undefined) return disabledByOperator
  if (manager.actor === 'operator') return status === 'disabled'
  if (disabledByOperator && status === 'active') throw disabledByOperatorError()
  return disabledByOperator
}
