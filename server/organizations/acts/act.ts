import { randomUUIDv7 } from 'node:crypto'
import { toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { detailsDigest } from '@countersign/protocol/formats/acts/act'
import { limits } from '@countersign/protocol/formats/limits'
import { type JsonObject, writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Act, StartedAct } from '@countersign/protocol/organizations/acts'
import { type ActStatement, parseActStatement } from '@countersign/protocol/signing/acts/statements'
import { actingTransaction, holdActing } from '#accounts/sessions/acting.ts'
import type { PasskeySession, Session } from '#accounts/sessions/session.ts'
import { requireMember } from '#organizations/membership/access.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { extendTrail, findTrailHead, listTrailEntries } from '#platform/audit/trail.ts'
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

export const errors = defineErrors({
  signed_action_required: [403, 'This action must be signed. Show statement to the member and do the act.'],
  act_not_found: [404, 'The act does not exist, has expired, was done or declined, or was started in another session.'],
})

/** What a member is asked to sign: thrown by a handler, so that its transaction changes nothing. */
type Unsigned = {
  identityId: IdentityId
  organizationId: OrganizationId
  action: string
  /** Present values of what the action changes. */
  from: JsonObject | undefined
  /** Message of version 1. */
  message: string
  key: SigningKey
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

type SealedRequest = { content: RequestContent; secretSalt: string }

/**
 * Stores an act that a member has to sign, and returns the error that tells what to sign. A session has at most five; a
 * further one replaces the oldest. Throws `unauthorized` if the session has ended.
 */
export async function startAct(
  { db, config, keyring }: Pick<ServerContext, 'db' | 'config' | 'keyring'>,
  session: Session,
  { endpoint, content, unsigned }: Requested & { unsigned: Unsigned },
  now: Date,
) {
  const { organizationId, identityId, action, from, message, key } = unsigned
  const secretSalt = randomBytes(saltBytes)
  const details = toDetails(endpoint.schema, content, { secretSalt, from })
  const salt = randomBytes(saltBytes)
  const actId = randomUUIDv7()
  const sealed: SealedRequest = { content, secretSalt: toBase64(secretSalt) }
  const sealedRequest = await keyring.seal(sealOf(actId), JSON.stringify(sealed))
  // The clock of the process that stored the key may be ahead of this one.
  const at = maxDate(now, key.createdAt)
  const expiresAt = addSeconds(at, limits.actLifetimeSeconds)
  // The signer confirms all that was recorded before.
  await extendTrail(db, organizationId)
  const act = await actingTransaction(db, session, async (tx) => {
    await keepOrganization(tx, organizationId)
    await holdActing(tx)
    const { lastAct, ...trail } = await findTrailHead(tx, organizationId)
    const statement: ActStatement = {
      version: 2,
      issuer: config.authUrl.origin,
      organizationId,
      identityId,
      keyVersion: key.keyVersion,
      action,
      details: detailsDigest(sha256, details, salt),
      role: 'sign',
      proposal: null,
      previousAct: lastAct,
      trail,
      nonce: toBase64Url(randomBytes(nonceBytes)),
      at: at.toISOString(),
      expiresAt: expiresAt.toISOString(),
    }
    const row: ActRow = {
      ...{ organizationId, actId, sessionId: session.sessionId, identityId, action, salt, expiresAt },
      ...{ endpoint: endpoint.name, sealedRequest, createdAt: now },
      details: writeCanonicalJson(details),
      statement: writeCanonicalJson(statement),
    }
    await store.insertAct(tx, row, limits.openActsPerSessionMax)
    return row
  })
  const fields: StartedAct = {
    message,
    ...startedOf(act),
    ...toSecretSalt(endpoint.schema, content, secretSalt),
  }
  return errors.signed_action_required({ fields })
}

/** Finds an act that this session has started. Throws `act_not_found`. */
export async function requireAct(db: Database, key: ActKey, now: Date): Promise<ActRow> {
  const act = await store.findAct(db, key, now)
  if (!act) throw errors.act_not_found()
  return act
}

/** Opens the request of an act. */
export async function openRequest(
  { keyring }: Pick<ServerContext, 'keyring'>,
  { actId, sealedRequest }: ActRow,
): Promise<SealedRequest> {
  const opened: SealedRequest = JSON.parse(await keyring.open(sealOf(actId), sealedRequest))
  return opened
}

type OwnAct = { session: PasskeySession; organizationId: OrganizationId; actId: string }

/** Finds an act of a session whose identity is still a member. Throws `act_not_found`, and like `requireMember`. */
async function requireOwnAct(kernel: ServerContext, { session, organizationId, actId }: OwnAct, now: Date) {
  const act = await requireAct(kernel.db, { organizationId, actId, sessionId: session.sessionId }, now)
  const asking = { session, organizationId, identityId: act.identityId }
  await requireMember(kernel, asking, undefined, now)
  return act
}

/** Gets an act for the page that shows it. Throws `act_not_found`, and like `requireMember`. */
export async function getAct(
  kernel: ServerContext,
  own: OwnAct,
  schemaOf: (endpoint: string) => Requested['endpoint']['schema'],
  now: Date,
): Promise<Act> {
  const act = await requireOwnAct(kernel, own, now)
  const { content, secretSalt } = await openRequest(kernel, act)
  const salts = toSecretSalt(schemaOf(act.endpoint), content, Buffer.from(secretSalt, 'base64'))
  return { ...startedOf(act), ...salts, role: 'sign', action: act.action, proposal: null }
}

/**
 * Lists the next entries of the trail after an entry, up to the head that the act names. Throws `act_not_found`, and
 * like `requireMember`.
 */
export async function listActTrail(kernel: ServerContext, own: OwnAct & { after: number }, now: Date) {
  const { organizationId, statement } = await requireOwnAct(kernel, own, now)
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

function startedOf({ actId, identityId, details, salt, statement, expiresAt }: ActRow) {
  return {
    actId,
    identityId,
    details: JSON.parse(details),
    salt: toBase64(salt),
    statement,
    expiresAt: expiresAt.toISOString(),
  }
}

const sealOf = (actId: string) => `organization act ${actId}`
