import { detailsDigest, proposalDigest } from '@countersign/protocol/formats/acts/act'
import type { TrailPlace } from '@countersign/protocol/formats/acts/follow-trail'
import { fromCanonicalBase64Of, fromCanonicalBase64Url } from '@countersign/protocol/formats/base64'
import { isObject } from '@countersign/protocol/formats/json'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import {
  type JsonObject,
  parseCanonicalJson,
  writeCanonicalJson,
} from '@countersign/protocol/formats/signing/canonical-json'
import { isCanonicalInstant } from '@countersign/protocol/formats/signing/instant'
import type { ActStatement } from '@countersign/protocol/signing/acts/statements'
import { sha256 } from '@noble/hashes/sha2.js'

/** An act as the page shows it. `details` contains commitments in place of secrets, and `from`, the values before. */
export type ShownAct = {
  actId: string
  organizationId: string
  identityId: string
  role: ActStatement['role']
  action: string
  details: JsonObject
  /** 16 bytes, base64. */
  salt: string
  /** Canonical JSON of the proposal that is approved, or done after others have approved it. */
  proposal: string | null
}

/** What the service names in a statement, and the page cannot know: values that make it unique, and its time. */
export type StatedByService = Pick<ActStatement, 'nonce' | 'at' | 'expiresAt' | 'keyVersion' | 'previousAct' | 'trail'>

/** Parses the values of a statement that only the service knows; returns undefined for text of another form. */
export function readStated(text: string): StatedByService | undefined {
  const stated = parseCanonicalJson(text)
  if (!isObject(stated)) return undefined
  const { nonce, at, expiresAt, keyVersion, previousAct, trail } = stated
  if (!isText(nonce) || fromCanonicalBase64Url(nonce)?.length !== nonceBytes) return undefined
  if (!isText(at) || !isText(expiresAt) || !isCanonicalInstant(at) || !isCanonicalInstant(expiresAt)) return undefined
  if (!isCount(keyVersion) || keyVersion === 0 || !(previousAct === null || isDigest(previousAct))) return undefined
  if (!isObject(trail)) return undefined
  const { head, sequence } = trail
  if (!isCount(sequence) || !(head === null || isDigest(head)) || (head === null) !== (sequence === 0)) return undefined
  return { nonce, at, expiresAt, keyVersion, previousAct, trail: { head, sequence } }
}

const nonceBytes = 32

/** Why nothing is signed: the service states something else than is shown, or its clock and the device's differ. */
export type ActDifference = 'statement' | 'clock'

export type StatedAct = { statement: JsonObject; text: string }

/**
 * Writes the statement of what the page shows, and compares it with that of the service, byte by byte. Of the service
 * it takes only `stated`, within the limits that every verifier sets, so that the user's passkey and key confirm
 * nothing that was not shown.
 *
 * @param place the end of the trail that this device has followed.
 */
export function stateAct(
  issuer: string,
  shown: ShownAct,
  { text, stated, place }: { text: string; stated: StatedByService; place: TrailPlace },
  now: number,
): StatedAct | { differs: ActDifference } {
  const { organizationId, identityId, role, action } = shown
  const details = digestOf(shown)
  const proposal = shown.proposal === null ? null : digestOfProposal(issuer, shown, { text: shown.proposal, details })
  if (details === undefined || proposal === undefined || !isAllowed(shown, stated, place))
    return { differs: 'statement' }
  const { nonce, at, expiresAt, keyVersion, previousAct } = stated
  const trail = { head: place.head, sequence: place.sequence }
  const statement: JsonObject = {
    ...{ version: 2, issuer, organizationId, identityId, keyVersion, role, action, details, proposal },
    ...{ previousAct, trail, nonce, at, expiresAt },
  }
  if (writeCanonicalJson(statement) !== text) return { differs: 'statement' }
  return isOnTime(stated, now) ? { statement, text } : { differs: 'clock' }
}

/** Compares the clock of the service with that of this device. */
export function isOnTime({ at }: Pick<StatedByService, 'at'>, now: number): boolean {
  return Math.abs(now - Date.parse(at)) <= pageLimits.signingApprovalClockSecondsMax * 1000
}

/** Checks what a verifier checks about order and time, so that nothing is signed that counts for nothing, or longer. */
function isAllowed(
  { role, proposal, organizationId, details }: ShownAct,
  { at, expiresAt, previousAct }: StatedByService,
  place: TrailPlace,
): boolean {
  if (details['organizationId'] !== organizationId) return false
  const seconds = role === 'sign' ? pageLimits.actLifetimeSeconds : pageLimits.actProposalLifetimeSeconds
  const milliseconds = Date.parse(expiresAt) - Date.parse(at)
  if (milliseconds <= 0 || milliseconds > seconds * 1000) return false
  if (role === 'approve') return proposal !== null && previousAct === null
  return place.lastAct === undefined || previousAct === place.lastAct
}

function digestOf({ details, salt }: ShownAct): string | undefined {
  const bytes = fromCanonicalBase64Of(saltBytes, salt)
  if (!bytes) return undefined
  try {
    return detailsDigest(sha256, details, bytes)
  } catch (error) {
    // Details without canonical form.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const saltBytes = 16

/** Computes the digest of a proposal if it is of the act that is shown; a member does only their own proposals. */
function digestOfProposal(
  issuer: string,
  { organizationId, identityId, action, role }: ShownAct,
  { text, details }: { text: string; details: string | undefined },
): string | undefined {
  const proposal = parseCanonicalJson(text)
  if (!isJsonObject(proposal)) return undefined
  const isOwn = proposal['identityId'] === identityId
  const expected = { version: 2, issuer, organizationId, action, details }
  const isOfAct = Object.entries(expected).every(([name, value]) => proposal[name] === value)
  return isOfAct && isOwn === (role === 'sign') ? proposalDigest(sha256, proposal) : undefined
}

/** Types details of a response, which is JSON. Whether they have a canonical form is checked with their digest. */
export function detailsOf(answered: unknown): JsonObject {
  return isJsonObject(answered) ? answered : {}
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isDigest(value: unknown): value is string {
  return isText(value) && fromCanonicalBase64Of(digestBytes, value) !== undefined
}

const digestBytes = 32
