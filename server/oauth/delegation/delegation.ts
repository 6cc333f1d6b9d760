import { randomUUIDv7 } from 'node:crypto'
import type { CommunicationMode, Delegation, DelegationUse } from '@countersign/protocol/oauth/delegations'
import { limits } from '@countersign/protocol/formats/limits'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { Acting, Session } from '#accounts/sessions/session.ts'
import * as store from './store.ts'
import * as uses from './use-store.ts'

const refuse = refusals({
  delegation_not_found: [404, 'None of your identities has this delegation.'],
  already_revoked: [409, 'This delegation was revoked before.'],
})

/** What a person agrees to: that an app may act at a resource as an identity. */
export type Consented = store.Parties & { resourceKey: string; scope: string[]; mode: CommunicationMode }

/**
 * Grants what was consented to, beside what a grant in force allows already; one that was revoked stays so. The caller
 * holds the app's authorization by the identity (`connect`), so that of consents at once each sees the other's.
 */
export async function grantDelegation(tx: Transaction, consented: Consented, now: Date): Promise<void> {
  const { identityId, sourceClientId, resourceKey, scope, mode } = consented
  const act = (action: 'delegation.granted' | 'delegation.widened') =>
    record(
      tx,
      { action, actor: 'person', identityId, clientId: sourceClientId, details: { resourceKey, scope, mode } },
      now,
    )
  const active = await store.lockActive(tx, consented)
  if (!active) {
    await store.insertGrant(tx, { ...consented, delegationId: randomUUIDv7(), communicationMode: mode }, now)
    return act('delegation.granted')
  }
  if (covers(active, { scope, mode })) return
  const merged = [...new Set([...active.scope, ...scope])]
  const communicationMode = active.communicationMode === 'background' ? 'background' : mode
  await store.updateGrant(tx, { ...active, identityId, scope: merged, communicationMode }, now)
  return act('delegation.widened')
}

type Allowing = { scope: string[]; communicationMode: CommunicationMode }
type Wanted = { scope: string[]; mode: CommunicationMode }

/** Whether a grant allows all that is wanted: a grant for the background also counts while the person is there. */
export function covers({ scope, communicationMode }: Allowing, wanted: Wanted): boolean {
  const isInTime = communicationMode === 'background' || wanted.mode === 'user_present'
  return isInTime && wanted.scope.every((each) => scope.includes(each))
}

/** What an app may do at a resource as an identity, and whether that covers what is wanted. */
export async function readDelegation(db: Database, parties: store.Parties, wanted: Wanted) {
  const found = await store.findActive(db, parties)
  return {
    delegation: found ? toDelegation(found) : null,
    missingScopes: wanted.scope.filter((scope) => !found?.scope.includes(scope)),
    covered: found !== undefined && covers(found, wanted),
  }
}

/** Whether what an app may do at a resource covers what is wanted, which nobody takes back until the end of `tx`. */
export async function holdDelegation(tx: Transaction, parties: store.Parties, wanted: Wanted): Promise<boolean> {
  const active = await store.lockActive(tx, parties)
  return active !== undefined && covers(active, wanted)
}

/** The delegations of a person's identities: those in force, then those that were revoked lately. */
export async function listDelegations(db: Database, acting: Acting): Promise<Delegation[]> {
  return (await store.listOfUser(db, acting)).map(toDelegation)
}

/** Revokes a delegation. Refuses `delegation_not_found`, `already_revoked`. */
export async function revokeDelegation(db: Database, acting: Session, delegationId: string, now: Date): Promise<void> {
  const { userId } = acting
  await actingTransaction(db, acting, async (tx) => {
    const revoked = await store.revokeOfUser(tx, acting, delegationId, now)
    if (revoked) {
      const { identityId, clientId } = revoked
      const act = { action: 'delegation.revoked', actor: 'person', userId, identityId, clientId } as const
      return record(tx, { ...act, details: { delegationId } }, now)
    }
    throw (await store.findOfUser(tx, acting, delegationId)) ? refuse.already_revoked() : refuse.delegation_not_found()
  })
}

/** When a delegation was used, the latest first. Refuses `delegation_not_found`. */
export async function listUses(db: Database, acting: Acting, delegationId: string): Promise<DelegationUse[]> {
  const found = await store.findOfUser(db, acting, delegationId)
  if (!found) throw refuse.delegation_not_found()
  const listed = await uses.listUses(db, found.identityId, delegationId, limits.delegationUsesShownMax)
  return listed.map(({ usedAt, scope, count }) => ({ at: usedAt.toISOString(), scope: scope.join(' '), count }))
}

/** Ends what an app may do as an identity, and what others may do at it; says how many delegations that were. */
export function revokeDelegationsOfApp(
  tx: Transaction,
  identityId: string,
  clientId: string,
  now: Date,
): Promise<number> {
  return store.revokeOfApp(tx, identityId, clientId, now)
}

/** Forgets what apps might do as identities that are going. */
export function forgetDelegations(tx: Transaction, identityIds: string[]): Promise<void> {
  return store.deleteGrants(tx, identityIds)
}

/**
 * Deletes up to `batch` uses that are too old to be of interest, as many of identities that are gone, and as many
 * revoked delegations, and says how many.
 */
export async function pruneDelegations(db: Database, now: Date, batch: number): Promise<number> {
  const before = secondsAfter(now, -limits.delegationRememberedSeconds)
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

/** What each granted scope lets do; one that the resource has given up, or never described, is left out. */
function descriptionsOf({ scope, resourceScopes, resourceScopeDescriptions }: store.GrantWithNames) {
  const described = resourceScopes.map((each, nth) => [each, resourceScopeDescriptions[nth] ?? ''] as const)
  return Object.fromEntries(described.filter(([each, words]) => scope.includes(each) && words !== ''))
}
