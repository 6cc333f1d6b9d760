import { randomUUIDv7 } from 'node:crypto'
import { toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { detailsDigest } from '@countersign/protocol/formats/acts/act'
import { limits } from '@countersign/protocol/formats/limits'
import { isObject } from '@countersign/protocol/formats/json'
import {
  type JsonObject,
  parseCanonicalJson,
  writeCanonicalJson,
} from '@countersign/protocol/formats/signing/canonical-json'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { StartedAct } from '@countersign/protocol/organizations/acts'
import { type ActStatement, parseActStatement } from '@countersign/protocol/signing/acts/statements'
import type { Presence } from '#accounts/passkeys/assertion.ts'
import { actingTransaction, holdActing } from '#accounts/sessions/acting.ts'
import type { PasskeySession, Session } from '#accounts/sessions/session.ts'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { requireMember } from '#organizations/membership/access.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { listTrailEntries, lockExtendedTrail } from '#platform/audit/trail.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type RequestContent, toDetails, toSecretSalt } from './request-content.ts'
import * as store from './store.ts'
import type { ActKey, ActRow, SigningKey } from './store.ts'

export type { ActRow } from './store.ts'

const saltBytes = 16
const nonceBytes = 32

const errors = defineErrors({
  signed_action_required: [403, 'This action must be signed. Show statement to the member and do the act.'],
  insufficient_scope: [403, 'Your role in this organization does not show you the trail.'],
  organization_not_found: [404, 'Organization not found, or you are not a member.'],
  act_not_found: [404, 'The act does not exist, has expired, was done or declined, or was started in another session.'],
})

/** What a member has to sign: thrown by a handler, so that its transaction changes nothing. */
type Unsigned = {
  identityId: IdentityId
  organizationId: OrganizationId
  action: string
  /** Present values of what the action changes. */
  from: JsonObject | undefined
  /** Message of version 1. */
  message: string
  key: SigningKey
  /** Approvals that it needs of others. */
  approvalsNeeded: number
}

/** Stops an action that has to be signed. `signable` turns it into `signed_action_required`. */
export class UnsignedAct extends Error {
  readonly unsigned: Unsigned

  constructor(unsigned: Unsigned) {
    super(`${unsigned.action} has to be signed`)
    this.unsigned = unsigned
  }
}

/** Name of an endpoint, its schemas, and the request that asks for an act. */
export type Requested = {
  endpoint: { name: string; schema: { params?: unknown; body?: unknown } }
  content: RequestContent
}

const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}))
const SealedRequest = Type.Object({
  content: Type.Object({ params: AnyObject, body: Type.Union([AnyObject, Type.Null()]) }),
  secretSalt: Type.String(),
})
export type SealedRequest = Static<typeof SealedRequest>

/**
 * Stores an act that a member has to sign, and returns the error that tells what to sign. A session has at most five; a
 * further one replaces the oldest. Throws `unauthorized` if the session has ended.
 */
export async function startAct(
  kernel: Pick<ServerContext, 'db' | 'config' | 'keyring'>,
  session: Session,
  { endpoint, content, unsigned }: Requested & { unsigned: Unsigned },
  now: Date,
) {
  const { organizationId, identityId, action, from, message, key, approvalsNeeded } = unsigned
  const secretSalt = randomBytes(saltBytes)
  const details = toDetails(endpoint.schema, content, { secretSalt, from })
  const salt = randomBytes(saltBytes)
  const request = { content, secretSalt: toBase64(secretSalt) }
  // The clock of the process that stored the key may be ahead of this one.
  const at = maxDate(now, key.createdAt)
  const act = await insertStartedAct(
    kernel,
    session,
    {
      ...{ organizationId, identityId, action, salt, key, at, request, approvalsNeeded },
      ...{ endpoint: endpoint.name, role: 'sign', proposal: null },
      details: writeCanonicalJson(details),
      digest: detailsDigest(sha256, details, salt),
      signableUntil: addSeconds(at, limits.actLifetimeSeconds),
    },
    now,
  )
  const fields: StartedAct = {
    message,
    approvalsNeeded,
    ...startedOf(act),
    ...toSecretSalt(endpoint.schema, content, secretSalt),
  }
  return errors.signed_action_required({ fields })
}

/** A verified act: what its member has signed, with what. */
export type VerifiedAct = { act: ActRow; statement: ActStatement; signature: Uint8Array; presence: Presence }

/** What a member is to sign, and the request that is then carried out. */
type NewAct = Pick<ActRow, 'organizationId' | 'identityId' | 'endpoint' | 'action' | 'details' | 'salt'> & {
  role: ActStatement['role']
  /** Proposal that the member approves or carries out, by its ID and its digest. */
  proposal: { proposalId: string; digest: string } | null
  approvalsNeeded: number
  key: SigningKey
  request: SealedRequest
  /** Digest of the details. */
  digest: string
  at: Date
  /** When the statement expires. */
  signableUntil: Date
}

/**
 * Stores an act for a session, with the statement to sign. Throws `unauthorized` if the session has ended, and
 * `organization_not_found` if the organization was deleted in the meantime.
 */
export async function insertStartedAct(
  { db, config, keyring }: Pick<ServerContext, 'db' | 'config' | 'keyring'>,
  session: Session,
  { organizationId, identityId, role, proposal, key, request, digest, at, signableUntil, ...act }: NewAct,
  now: Date,
): Promise<ActRow> {
  const actId = randomUUIDv7()
  const sealedRequest = await keyring.seal(sealOf(actId), JSON.stringify(request))
  return actingTransaction(db, session, async (tx) => {
    if (!(await keepOrganization(tx, organizationId))) throw errors.organization_not_found()
    // The signer confirms all that was recorded before.
    const { lastAct, ...trail } = await lockExtendedTrail(tx, organizationId)
    await holdActing(tx)
    const statement: ActStatement = {
      version: 2,
      issuer: config.authUrl.origin,
      organizationId,
      identityId,
      keyVersion: key.keyVersion,
      action: act.action,
      details: digest,
      role,
      proposal: proposal?.digest ?? null,
      previousAct: role === 'sign' ? lastAct : null,
      trail,
      nonce: toBase64Url(randomBytes(nonceBytes)),
      at: at.toISOString(),
      expiresAt: signableUntil.toISOString(),
    }
    const row: ActRow = {
      ...{ ...act, organizationId, actId, sessionId: session.sessionId, identityId, sealedRequest, createdAt: now },
      proposalId: proposal?.proposalId ?? null,
      statement: writeCanonicalJson(statement),
      expiresAt: addSeconds(at, limits.actLifetimeSeconds),
    }
    await store.insertAct(tx, row, limits.openActsPerSessionMax)
    return row
  })
}

/** Finds an act that this session has started. Throws `act_not_found`. */
export async function requireAct(db: Database, key: ActKey, now: Date): Promise<ActRow> {
  const act = await store.findAct(db, key, now)
  if (!act) throw errors.act_not_found()
  return act
}

/** Opens the request of an act, or of a proposal by its ID. */
export async function openRequest(
  { keyring }: Pick<ServerContext, 'keyring'>,
  { actId, sealedRequest }: Pick<ActRow, 'actId' | 'sealedRequest'>,
): Promise<SealedRequest> {
  const opened: unknown = JSON.parse(await keyring.open(sealOf(actId), sealedRequest))
  if (!Check(SealedRequest, opened)) throw new Error(`the request of the act ${actId} cannot be read`)
  return opened
}

/** Encrypts the request of an act for a proposal with this ID. */
export async function resealRequest(
  kernel: Pick<ServerContext, 'keyring'>,
  act: ActRow,
  proposalId: string,
): Promise<string> {
  return kernel.keyring.seal(sealOf(proposalId), JSON.stringify(await openRequest(kernel, act)))
}

export type OwnAct = { session: PasskeySession; organizationId: OrganizationId; actId: string }

/** Finds an act of a session whose identity is still a member. Throws `act_not_found`, and like `requireMember`. */
export async function requireOwnAct(kernel: ServerContext, { session, organizationId, actId }: OwnAct, now: Date) {
  const act = await requireAct(kernel.db, { organizationId, actId, sessionId: session.sessionId }, now)
  const asking = { session, organizationId, identityId: act.identityId }
  const { scopes } = await requireMember(kernel, asking, undefined, now)
  return { ...act, scopes }
}

/**
 * Lists the next entries of the trail after an entry, up to the head that the act names. Throws `act_not_found`,
 * `insufficient_scope`, and like `requireMember`.
 */
export async function listActTrail(kernel: ServerContext, own: OwnAct & { after: number }, now: Date) {
  const { organizationId, statement, scopes } = await requireOwnAct(kernel, own, now)
  // Who can do nothing but leave does not see what others do.
  if (scopes.every((scope) => scope === 'read')) throw errors.insufficient_scope()
  const { trail } = readStatement(statement)
  const range = { after: own.after, to: trail.sequence }
  return listTrailEntries(kernel.db, organizationId, range, limits.actTrailEntriesMax)
}

/** Declines an act. Throws `act_not_found`. */
export async function declineAct({ db }: ServerContext, { session, organizationId, actId }: OwnAct, now: Date) {
  await actingTransaction(db, session, (tx) =>
    consumeAct(tx, { organizationId, actId, sessionId: session.sessionId }, now),
  )
}

/** Consumes an act. Throws `act_not_found` if it was done or declined before, or has expired. */
export async function consumeAct(tx: Transaction, key: ActKey, now: Date): Promise<void> {
  if (!(await store.consumeAct(tx, key, now))) throw errors.act_not_found()
}

/** Deletes up to `batch` expired acts. Returns their number. */
export function pruneActs(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredActs(db, now, batch)
}

/** Deletes the acts of identities that are being deleted. */
export async function deleteActs(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  if (identityIds.length > 0) await store.deleteActsOf(tx, identityIds)
}

/** Parses a statement that the service has written. */
export function readStatement(text: string): ActStatement {
  const statement = parseActStatement(text)
  if (!statement) throw new Error('the statement of a stored act cannot be parsed')
  return statement
}

export function startedOf({ actId, identityId, details, salt, statement, expiresAt }: ActRow) {
  return {
    actId,
    identityId,
    details: readDetails(details),
    salt: toBase64(salt),
    statement,
    expiresAt: expiresAt.toISOString(),
  }
}

/** Parses details that the service has written. */
export function readDetails(text: string): Record<string, unknown> {
  const details = parseCanonicalJson(text)
  if (!isObject(details)) throw new Error('the details of a stored act cannot be parsed')
  return details
}

/** Name of what a request is encrypted for: an act, or a proposal. */
export const sealOf = (actId: string) => `organization act ${actId}`
