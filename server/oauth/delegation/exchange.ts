import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import { limits } from '@countersign/protocol/formats/limits'
import { requireProof, type Client } from '#clients/registration/client-authentication.ts'
import { findActiveResource, type ActiveResource } from '#clients/resources/resource.ts'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { tellOrganization } from '#organizations/membership/context.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { findSubject, readSubjectToken, type Subject } from '#tokens/families/subject-token.ts'
import { issueDelegatedToken, type Delegated } from './delegated-token.ts'
import * as store from './store.ts'
import type { ActiveGrant } from './store.ts'
import * as useStore from './use-store.ts'

/** What a new use leaves of a delegation's uses: no more than are ever shown. */
const remembered = { kept: limits.delegationUsesShownMax, batch: 100 }

/** What a source app wants: a token for a resource, by a token that tells for whom. */
export type Exchange = {
  subjectToken: string
  /** A resource key, or an audience. */
  resource: string
  /** All that was granted where it is not said. */
  scope: string[] | undefined
}

const refuse = refusals({
  invalid_request: [400, 'The subject_token is not a live access_token_jwt that this app got from here.'],
  invalid_target: [400, 'There is no such resource, or it is not active.'],
  access_denied: [403, 'The person has not let this app act at this resource, or no longer.'],
  invalid_scope: [400, 'A scope is asked for that the person has not granted, or that the resource has no longer.'],
  invalid_grant: [400, 'The person proved to be there over an hour ago: let them sign in again.'],
  unauthorized_client: [400, 'An app without a secret exchanges no tokens.'],
})

/**
 * Exchanges an app's own token for one with which it acts at a resource as the same identity (RFC 8693). Refuses
 * `invalid_client`, `unauthorized_client`, `invalid_target`, `invalid_request`, `access_denied`, `invalid_scope`,
 * `invalid_grant`.
 */
export async function exchange(
  { kernel, keys }: { kernel: Kernel; keys: SigningKeys },
  client: Client,
  { subjectToken: token, resource: named, scope }: Exchange,
  now: Date,
): Promise<ExchangeResponse> {
  const { clientId, isPublic } = client.app
  if (isPublic) throw refuse.unauthorized_client()
  requireProof(client)
  const issuing = { keys, issuer: kernel.config.authUrl.origin }
  const key = await readSubjectToken(issuing, token, now)
  if (!key) throw refuse.invalid_request()
  const delegated = await transaction(kernel.db, async (tx) => {
    const subject = await findSubject(tx, { key, clientId }, now)
    if (!subject || !(await tellOrganization(tx, subject))) throw refuse.invalid_request()
    return takeDelegation(tx, { subject, clientId, named, scope }, now)
  })
  return {
    access_token: await issueDelegatedToken(issuing, delegated, now),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: limits.delegatedTokenLifetimeSeconds,
    scope: delegated.scope.join(' '),
    audience: delegated.audience,
    target_resource: delegated.resourceKey,
    communication_mode: delegated.mode,
  }
}

/**
 * A token for a resource of somebody for whom an app has just redeemed a code or a refresh token: these prove more than
 * a token does that is exchanged, so that an app without a secret gets it too. Refuses `invalid_target`,
 * `access_denied`, `invalid_scope`, `invalid_grant`.
 */
export async function delegate(
  { kernel, keys }: { kernel: Kernel; keys: SigningKeys },
  taking: Taking,
  now: Date,
): Promise<{ token: string; scope: string[] }> {
  const delegated = await transaction(kernel.db, (tx) => takeDelegation(tx, taking, now))
  const issuing = { keys, issuer: kernel.config.authUrl.origin }
  return { token: await issueDelegatedToken(issuing, delegated, now), scope: delegated.scope }
}

/**
 * Refuses what `delegate` would refuse, and takes nothing: for who is about to spend something for it. Refuses
 * `invalid_target`, `access_denied`, `invalid_scope`, `invalid_grant`.
 */
export async function requireDelegation(db: Database, taking: Taking, now: Date): Promise<void> {
  const { resource, parties } = await findParties(db, taking)
  const grant = await store.findActive(db, parties)
  if (!grant) throw refuse.access_denied()
  requireAllowed(grant, resource, taking, now)
}

type Taking = { subject: Subject; clientId: string; named: string; scope: string[] | undefined }

/**
 * Takes up a delegation that is in force: its row is locked by the note that it is used, so that none is taken up once
 * its revocation was acknowledged.
 */
async function takeDelegation(tx: Transaction, taking: Taking, now: Date): Promise<Delegated> {
  const { resource, parties } = await findParties(tx, taking)
  const grant = await store.useActive(tx, parties, now)
  if (!grant) throw refuse.access_denied()
  const scope = requireAllowed(grant, resource, taking, now)
  const { identityId, sourceClientId } = parties
  const { delegationId, communicationMode: mode } = grant

  const count = await useStore.countUse(tx, { identityId, delegationId, scope, usedAt: minuteOf(now) })
  if (count === 1) await useStore.trimUses(tx, { identityId, delegationId }, remembered)
  const { recordedAt, unrecordedUses: uses } = grant
  if (!recordedAt || recordedAt <= secondsAfter(now, -limits.delegationUsesRecordedSeconds)) {
    const act = { action: 'delegation.used', actor: 'app', identityId, clientId: sourceClientId } as const
    await record(tx, { ...act, details: { delegationId, resourceKey: resource.resourceKey, uses } }, now)
    await store.markRecorded(tx, { identityId, delegationId }, now)
  }
  const { audience, resourceKey } = resource
  return { identityId, delegationId, sourceClientId, scope, mode, audience, resourceKey }
}

async function findParties(db: Database | Transaction, { subject, clientId, named }: Taking) {
  const resource = await findActiveResource(db, named)
  if (!resource) throw refuse.invalid_target()
  const { identityId, byProviderAlone } = subject
  // What the person has elsewhere is theirs, whatever they have let this app do: it is not for their organization.
  if (byProviderAlone) throw refuse.access_denied({ sentence: 'The person has signed in without their passkey.' })
  return { resource, parties: { identityId, sourceClientId: clientId, resourceId: resource.resourceId } }
}

/**
 * What of the granted scopes a token is for; the resource may have given some up since. Refuses `invalid_scope`, and
 * `invalid_grant` where the person would have to be there.
 */
function requireAllowed(
  { scope: granted, communicationMode }: ActiveGrant,
  { scopes }: ActiveResource,
  { subject, scope: wanted }: Taking,
  now: Date,
): string[] {
  const available = granted.filter((scope) => scopes.includes(scope))
  const scope = wanted ?? available
  if (scope.length === 0 || !scope.every((each) => available.includes(each))) throw refuse.invalid_scope()
  const isPresent = subject.authTime > secondsAfter(now, -limits.userPresentSeconds)
  if (communicationMode === 'user_present' && !isPresent) throw refuse.invalid_grant()
  return scope.toSorted()
}

function minuteOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000)
}
