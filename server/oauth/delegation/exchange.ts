import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId } from '@countersign/protocol/ids'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { findDeniedAccess, hasAccess } from '#clients/registration/access/access.ts'
import type { Client } from '#clients/registration/authentication/authentication.ts'
import { findActiveResource, type ActiveResource } from '#clients/resources/resource.ts'
import { isSuspendedIdentity } from '#accounts/identities/suspension.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { resolveOrganizationClaim } from '#organizations/membership/context.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { findSubject, resolveSubjectToken, type Subject } from '#tokens/families/presented-token.ts'
import { issueDelegatedToken, type DelegatedTokenClaims } from './delegated-token.ts'
import * as store from './store.ts'
import type { ActiveGrant } from './store.ts'
import * as useStore from './use-store.ts'

/** Number of uses that a new use leaves of a delegation: as many as are ever shown. */
const remembered = { kept: limits.delegationUsesShownMax, batch: 100 }

/** Request of a source app for a token for a resource, with a token that identifies the user. */
export type Exchange = {
  subjectToken: string
  /** Resource key or audience. */
  resource: string
  /** Requested scopes; everything granted if undefined. */
  scope: ScopeSet | undefined
}

const errors = defineErrors({
  invalid_request: [400, 'subject_token must be a valid access_token_jwt issued to this client.'],
  invalid_target: [400, 'The resource does not exist or is disabled.'],
  access_denied: [403, 'The user has not granted this app access to the resource, or has revoked it.'],
  invalid_scope: [400, 'scope exceeds what the user granted, or contains a scope the resource no longer defines.'],
  invalid_grant: [400, 'User authentication is older than one hour. The user must sign in again.'],
})

/**
 * Exchanges the token of an authenticated app for one with which it acts at a resource as the same identity (RFC
 * 8693). Throws `invalid_target`, `invalid_request`, `access_denied`, `invalid_scope`, `invalid_grant`.
 */
export async function exchange(
  { kernel, keys }: { kernel: ServerContext; keys: SigningKeys },
  { app }: Client,
  { subjectToken: token, resource: named, scope }: Exchange,
  now: Date,
): Promise<ExchangeResponse> {
  const { clientId } = app
  const issuing = { keys, issuer: kernel.config.authUrl.origin }
  const key = await resolveSubjectToken(issuing, token, now)
  if (!key) throw errors.invalid_request()
  const delegated = await transaction(kernel.db, async (tx) => {
    const subject = await findSubject(tx, { key, clientId }, now)
    if (!subject && (await isSuspendedIdentity(tx, key.identityId, now))) throw errors.access_denied()
    if (!subject || (await resolveOrganizationClaim(tx, subject)).kind === 'revoked') throw errors.invalid_request()
    if (!(await hasAccess(tx, app, subject.identityId)))
      throw errors.access_denied({ sentence: 'The user has no access to this app.' })
    return takeDelegation(tx, { subject, clientId, named, scope }, now)
  })
  return {
    access_token: await issueDelegatedToken(issuing, delegated, now),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: limits.delegatedTokenLifetimeSeconds,
    scope: delegated.scope.toString(),
    audience: delegated.audience,
    target_resource: delegated.resourceKey,
    communication_mode: delegated.mode,
  }
}

/**
 * Issues a token for a resource to an app that has just redeemed a code or a refresh token.
 *
 * Such a redemption proves more than an exchanged token, so public apps get it too. Throws `invalid_target`,
 * `access_denied`, `invalid_scope`, `invalid_grant`.
 */
export async function issueDelegatedTokenResponse(
  { kernel, keys }: { kernel: ServerContext; keys: SigningKeys },
  taking: DelegatedTokenInput,
  now: Date,
): Promise<{ token: string; scope: ScopeSet }> {
  const delegated = await transaction(kernel.db, (tx) => takeDelegation(tx, taking, now))
  const issuing = { keys, issuer: kernel.config.authUrl.origin }
  return { token: await issueDelegatedToken(issuing, delegated, now), scope: delegated.scope }
}

/**
 * Checks a delegation like `delegate`, but without using it: for callers that are about to consume a credential for it.
 * Throws `invalid_target`, `access_denied`, `invalid_scope`, `invalid_grant`.
 */
export async function requireDelegation(db: Database, taking: DelegatedTokenInput, now: Date): Promise<void> {
  const { resource, parties } = await findParties(db, taking)
  const grant = await store.findActive(db, parties)
  if (!grant) throw errors.access_denied()
  requireAllowed(grant, resource, taking, now)
}

type DelegatedTokenInput = { subject: Subject; clientId: ClientId; named: string; scope: ScopeSet | undefined }

/**
 * Uses an active delegation. Recording the use locks its row, so that no token is issued after a revocation was
 * acknowledged.
 */
async function takeDelegation(tx: Transaction, taking: DelegatedTokenInput, now: Date): Promise<DelegatedTokenClaims> {
  const { resource, parties } = await findParties(tx, taking)
  const grant = await store.recordDelegationUse(tx, parties, now)
  if (!grant) throw errors.access_denied()
  const scope = requireAllowed(grant, resource, taking, now)
  const { identityId, sourceClientId } = parties
  const { delegationId, communicationMode: mode } = grant

  const count = await useStore.countUse(tx, { identityId, delegationId, scope: [...scope], usedAt: minuteOf(now) })
  if (count === 1) await useStore.trimUses(tx, { identityId, delegationId }, remembered)
  const { useAuditedAt, unauditedUseCount: uses } = grant
  if (!useAuditedAt || useAuditedAt <= addSeconds(now, -limits.delegationUsesRecordedSeconds)) {
    const act = { action: 'delegation.used', actor: 'app', identityId, clientId: sourceClientId } as const
    await recordAuditEvent(
      tx,
      { ...act, details: { delegationId, resourceKey: resource.resourceKey, targetApp: resource.ownerName, uses } },
      now,
    )
    await store.markUseAudited(tx, { identityId, delegationId }, now)
  }
  const { audience, resourceKey } = resource
  return { identityId, delegationId, sourceClientId, scope, mode, audience, resourceKey }
}

async function findParties(db: Database | Transaction, { subject, clientId, named }: DelegatedTokenInput) {
  const resource = await findActiveResource(db, named)
  if (!resource) throw errors.invalid_target()
  const { identityId, byProviderAlone } = subject
  // What the user has elsewhere is private to the user, whatever they have granted this app: their organization must
  // not get it.
  if (byProviderAlone) throw errors.access_denied({ sentence: 'The user has signed in without a passkey.' })
  if (await findDeniedAccess(db, resource.ownerClientId, identityId))
    throw errors.access_denied({ sentence: 'The user has no access to the app of this resource.' })
  return { resource, parties: { identityId, sourceClientId: clientId, resourceId: resource.resourceId } }
}

/**
 * Returns the granted scopes that a token is for; the resource may have removed some since. Throws `invalid_scope`, and
 * `invalid_grant` if the user would have to be present.
 */
function requireAllowed(
  { scope: granted, communicationMode }: ActiveGrant,
  { scopes }: ActiveResource,
  { subject, scope: requested }: DelegatedTokenInput,
  now: Date,
): ScopeSet {
  const available = new ScopeSet(granted).intersection(new ScopeSet(scopes))
  const scope = requested ?? available
  if (scope.size === 0 || !scope.isWithin(available)) throw errors.invalid_scope()
  const isPresent = subject.authTime > addSeconds(now, -limits.userPresentSeconds)
  if (communicationMode === 'user_present' && !isPresent) throw errors.invalid_grant()
  return new ScopeSet([...scope].toSorted())
}

function minuteOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000)
}
