import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { limits } from '../../formats/limits.ts'
import { parseCanonicalJson } from '../../formats/signing/canonical-json.ts'
import { isCanonicalInstant } from '../../formats/signing/instant.ts'
import { IdentityId, OrganizationId } from '../../ids.ts'

const Instant = Type.String({ description: 'UTC, in the one spelling of ECMAScript, so that it compares as text' })
const Digest = Type.String({ pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$', description: 'SHA-256, base64' })
const Nonce = Type.String({ pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$', description: '32 bytes, base64url' })
const Action = Type.String({ pattern: '^[a-z_.]{1,64}$' })
const closed = { additionalProperties: false }

function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Fields that every statement about an action has. */
const stated = {
  version: Type.Literal(2),
  issuer: Type.String(),
  organizationId: OrganizationId,
  identityId: IdentityId,
  action: Action,
  details: Digest,
  nonce: Nonce,
  expiresAt: Instant,
}

/**
 * Statement of an act, whose canonical JSON a member signs. `sign` does the act. `approve` approves a proposal of
 * another member, and does nothing alone.
 */
export const ActStatement = Type.Object(
  {
    ...stated,
    keyVersion: Type.Integer({ minimum: 1 }),
    role: Type.Union([Type.Literal('sign'), Type.Literal('approve')]),
    proposal: orNull(Digest),
    previousAct: orNull(Digest),
    trail: Type.Object({ head: orNull(Digest), sequence: Type.Integer({ minimum: 0 }) }, closed),
    at: Instant,
  },
  closed,
)
export type ActStatement = Static<typeof ActStatement>

/** Action that a member proposes and that others approve before the same member signs and does it. */
export const ActProposal = Type.Object({ ...stated, createdAt: Instant }, closed)
export type ActProposal = Static<typeof ActProposal>

/** Entry of a trail. Without signatures, it is the word of the service alone. */
export const TrailEntry = Type.Object(
  {
    version: Type.Literal(2),
    organizationId: OrganizationId,
    sequence: Type.Integer({ minimum: 1 }),
    previous: orNull(Digest),
    at: Instant,
    action: Action,
    actor: Type.Union([Type.Literal('user'), Type.Literal('app'), Type.Literal('operator'), Type.Literal('system')]),
    details: Digest,
    acts: Digest,
  },
  closed,
)
export type TrailEntry = Static<typeof TrailEntry>

/** Parses the statement of an act; returns undefined for any other text, also for another spelling of one. */
export function parseActStatement(text: string): ActStatement | undefined {
  const statement = parseCanonicalJson(text)
  if (!Check(ActStatement, statement)) return undefined
  const { role, proposal, previousAct, trail, at, expiresAt } = statement
  // The order of acts concerns the one that is done. An approval that named it would fail with every other act.
  if (role === 'approve' && (proposal === null || previousAct !== null)) return undefined
  if ((trail.head === null) !== (trail.sequence === 0)) return undefined
  const seconds = role === 'sign' ? limits.actLifetimeSeconds : limits.actProposalLifetimeSeconds
  return isLifetime(at, expiresAt, seconds) ? statement : undefined
}

/** Parses a proposal; returns undefined for any other text, also for another spelling of one. */
export function parseActProposal(text: string): ActProposal | undefined {
  const proposal = parseCanonicalJson(text)
  if (!Check(ActProposal, proposal)) return undefined
  const { createdAt, expiresAt } = proposal
  return isLifetime(createdAt, expiresAt, limits.actProposalLifetimeSeconds) ? proposal : undefined
}

/** Parses a trail entry; returns undefined for any other text, also for another spelling of one. */
export function parseTrailEntry(text: string): TrailEntry | undefined {
  const entry = parseCanonicalJson(text)
  if (!Check(TrailEntry, entry) || !isCanonicalInstant(entry.at)) return undefined
  return (entry.previous === null) === (entry.sequence === 1) ? entry : undefined
}

function isLifetime(start: string, end: string, secondsMax: number): boolean {
  if (!isCanonicalInstant(start) || !isCanonicalInstant(end)) return false
  const milliseconds = Date.parse(end) - Date.parse(start)
  return milliseconds > 0 && milliseconds <= secondsMax * 1000
}
