import { randomUUIDv7 } from 'node:crypto'
import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { CommunicationMode, Delegation, DelegationUse } from '@countersign/protocol/oauth/delegations'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import * as store from './store.ts'
import * as uses from './use-store.ts'

const errors = defineErrors({
  delegation_not_found: [404, 'No delegation of this account has this ID.'],
  already_revoked: [409, 'The delegation has already been revoked.'],
})

/**
 * Consent of a user that an app may act at a resource as an identity. `targetApp` is the name of the other app then.
 */
export type DelegationConsent = store.DelegationKey & {
  resourceKey: string
  targetApp: string
  scope: ScopeSet
  mode: CommunicationMode
}

/**
 * Adds the consented scopes to an active delegation, or creates one; a revoked delegation stays revoked.
 *
 * The caller has locked the identity's authorization of the app (`connect`), so that concurrent consents see each
 * other.
 */
export async function grantDelegation(tx: Transaction, consented: DelegationConsent, now: Date): Promise<void> {
  const { identityId, sourceClientId, resourceKey, targetApp, scope, mode } = consented
  const act = (action: 'delegation.granted' | 'delegation.scope_extended') =>
    recordAuditEvent(
      tx,
      {
        action,
        actor: 'user',
        identityId,
        clientId: sourceClientId,
        details: { resourceKey, targetApp, scope: [...scope], mode },
      },
      now,
    )
  const active = await store.lockActive(tx, consented)
  if (!active) {
    const granted = { ...consented, delegationId: randomUUIDv7(), scope: [...scope], communicationMode: mode }
    await store.insertGrant(tx, granted, now)
    return act('delegation.granted')
  }
  if (coversScope(active, { scope, mode })) return
  const merged = [...new ScopeSet(active.scope).union(scope)]
  const communicationMode = active.communicationMode === 'background' ? 'background' : mode
  await store.updateGrant(tx, { ...active, identityId, scope: merged, communicationMode }, now)
  return act('delegation.scope_extended')
}

type Allowing = { scope: string[]; communicationMode: CommunicationMode }
type RequiredDelegation = { scope: ScopeSet; mode: CommunicationMode }

/** Tells if a delegation allows everything requested; one for the background also counts while the user is present. */
function coversScope({ scope, communicationMode }: Allowing, requested: RequiredDelegation): boolean {
  const isInTime = communicationMode === 'background' || requested.mode === 'user_present'
  return isInTime && requested.scope.isWithin(new ScopeSet(scope))
}

/** Returns what an app may do at a resource as an identity, and whether that covers the request. */
export async function findDelegation(db: Database, parties: store.DelegationKey, requested: RequiredDelegation) {
  const found = await store.findActive(db, parties)
  return {
    delegation: found ? toDelegation(found) : null,
    missingScopes: [...requested.scope.without(new ScopeSet(found?.scope))],
    covered: found !== undefined && coversScope(found, requested),
  }
}

/** Tells if the delegation of an app covers the request, and locks it against revocation until the end of `tx`. */
export async function lockDelegation(
  tx: Transaction,
  parties: store.DelegationKey,
  requested: RequiredDelegation,
): Promise<boolean> {
  const active = await store.lockActive(tx, parties)
  return active !== undefined && coversScope(active, requested)
}

/** Lists the delegations of a user's identities: active ones first, then those that were revoked recently. */
export async function listDelegations(db: Database, { userId }: Pick<PasskeySession, 'userId'>): Promise<Delegation[]> {
  return (await store.listOfUser(db, userId)).map(toDelegation)
}

/** Revokes a delegation. Throws `delegation_not_found`, `already_revoked`. */
export async function revokeDelegation(
  db: Database,
  acting: PasskeySession,
  delegationId: string,
  now: Date,
): Promise<void> {
  const { userId } = acting
  await actingTransaction(db, acting, async (tx) => {
    const revoked = await store.revokeOfUser(tx, userId, delegationId, now)
    if (revoked) {
      const { identityId, clientId, resourceId } = revoked
      const targetApp = await store.findTargetName(tx, resourceId)
      const act = { action: 'delegation.revoked', actor: 'user', userId, identityId, clientId } as const
      return recordAuditEvent(tx, { ...act, details: { delegationId, ...(targetApp && { targetApp }) } }, now)
    }
    throw (await store.findOfUser(tx, userId, delegationId)) ? errors.already_revoked() : errors.delegation_not_found()
  })
}

/** Lists when a delegation was used, most recent first. Throws `delegation_not_found`. */
export async function listDelegationUses(
  db: Database,
  { userId }: Pick<PasskeySession, 'userId'>,
  delegationId: string,
): Promise<DelegationUse[]> {
  const found = await store.findOfUser(db, userId, delegationId)
  if (!found) throw errors.delegation_not_found()
  const listed = await uses.listDelegationUses(db, found.identityId, delegationId, limits.delegationUsesShownMax)
  return listed.map(({ usedAt, scope, count }) => ({ at: usedAt.toISOString(), scope: scope.join(' '), count }))
}

/** Revokes the delegations from and to apps for an identity; returns how many there were. */
export function revokeDelegationsOfApps(
  tx: Transaction,
  identityId: IdentityId,
  clientIds: ClientId[],
  now: Date,
): Promise<number> {
  return store.revokeOfApps(tx, identityId, clientIds, now)
}

/** Revokes the delegations at resources of deleted apps, for the identities from one to another in their order. */
export function revokeDelegationsAtMissing(
  tx: Transaction,
  range: { from: IdentityId; to: IdentityId },
  now: Date,
): Promise<void> {
  return store.revokeAtMissing(tx, range, now)
}

/** Revokes the delegations of identities that are being suspended. They stay revoked when the identity is activated. */
export function revokeDelegations(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  return store.revokeOfIdentities(tx, identityIds, now)
}

/** Deletes the delegations of identities that are being deleted. */
export function deleteDelegations(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  return store.deleteGrants(tx, identityIds)
}

/**
 * Deletes up to `batch` outdated uses, as many uses of deleted identities, and as many revoked delegations; returns how
 * many.
 */
export async function pruneDelegations(db: Database, now: Date, batch: number): Promise<number> {
  const before = addSeconds(now, -limits.delegationRememberedSeconds)
  const deletedUses = (await uses.deleteUses(db, before, batch)) + (await uses.deleteFormerUses(db, batch))
  return deletedUses + (await store.deleteRevoked(db, before, batch))
}

function toDelegation(found: store.GrantWithNames): Delegation {
  return {
    id: found.delegationId,
    identityId: found.identityId,
    sourceAppClientId: found.sourceClientId,
    sourceAppName: found.sourceName,
    sourceAppIconUrl: found.sourceIconUrl,
    sourceAppWebsiteUrl: found.sourceWebsiteUrl,
    targetResourceKey: found.resourceKey,
    targetResourceName: found.resourceName,
    targetAudience: found.audience,
    targetAppClientId: found.targetClientId,
    targetAppName: found.targetName,
    scope: found.scope.join(' '),
    scopeDescriptions: descriptionsOf(found),
    communicationMode: found.communicationMode,
    status: found.revokedAt === null ? 'active' : 'revoked',
    createdAt: found.createdAt.toISOString(),
    updatedAt: found.updatedAt.toISOString(),
    revokedAt: found.revokedAt?.toISOString() ?? null,
    lastUsedAt: found.lastUsedAt?.toISOString() ?? null,
  }
}

/**
 * Returns the description of each granted scope. Scopes that the resource has removed or never described are omitted.
 */
function descriptionsOf({ scope, resourceScopes, resourceScopeDescriptions }: store.GrantWithNames) {
  const described = resourceScopes.map((each, nth) => [each, resourceScopeDescriptions[nth] ?? ''] as const)
  return Object.fromEntries(described.filter(([each, words]) => scope.includes(each) && words !== ''))
}

/** Exports the delegations of a user with their uses, one at a time. */
export async function* exportDelegations(
  db: Database,
  owner: Pick<PasskeySession, 'userId'>,
): AsyncGenerator<AccountExport['delegations']> {
  for (const delegation of await listDelegations(db, owner))
    yield [{ ...delegation, uses: await listDelegationUses(db, owner, delegation.id) }]
}
