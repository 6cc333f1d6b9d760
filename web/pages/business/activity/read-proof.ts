import type { ResponseOf } from '@countersign/protocol/api'
import { fromCanonicalBase64Of } from '@countersign/protocol/formats/base64'
import { actMessage, actsDigest, detailsDigest, type SignedAct } from '@countersign/protocol/formats/acts/act'
import { isObject } from '@countersign/protocol/formats/json'
import { type JsonObject, parseCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { NoteSuite } from '@countersign/protocol/formats/signing/checkpoint'
import { isSignedBy } from '@countersign/protocol/formats/signing/ed25519'
import type { NamedIdentity } from '@countersign/protocol/operations/audit'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { callOpenly } from '../../../lib/api/business-call.ts'
import { fingerprintOf } from '../../../lib/text/fingerprint.ts'
import { runWithWebCrypto } from '../../../lib/keys/self-check/web-suite.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { memberContext } from '../session/membership.ts'
import { callBusinessForText } from '../session/session.ts'

type PublicKey = ResponseOf<'GET /api/signing/public-key/:handle'>

/** One signature of an act, with the key by which it verifies; without a key if its signer no longer exists. */
export type ProvedSignature = {
  signer: NamedIdentity | undefined
  role: string
  at: string
  signature: string
  key: (PublicKey & { fingerprint: string }) | undefined
}

/** What proves an act. `details` are absent if they were erased. */
export type Proof = {
  verdict: 'verified' | 'invalid' | 'no key'
  details: JsonObject | undefined
  signatures: ProvedSignature[]
  /** The record of the trail, as the command line reads it. */
  record: string
}

type Record = { entry: JsonObject; details?: JsonObject; salt?: string; acts: SignedAct[] }

/**
 * Reads an act from the trail of an organization, and verifies in this browser that its signers signed exactly this
 * text, for this organization. Throws `ApiError`, `NetworkError`, and an error for a record of another form.
 */
export async function readProof(
  organization: OwnOrganization,
  sequence: number,
  people: NamedIdentity[],
): Promise<Proof> {
  const { params, querystring } = memberContext(organization)
  const range = { after: String(sequence - 1), to: String(sequence) }
  const given = { params, querystring: { ...querystring, ...range } }
  const text = await callBusinessForText('GET /api/organizations/:organizationId/trail', given)
  const line = text.split('\n', 1)[0] ?? ''
  const record = parseRecord(line)
  const statements = record.acts.map(({ statement }) => parseObject(statement))
  const signatures = await Promise.all(record.acts.map((act, index) => withKey(act, statements[index] ?? {}, people)))
  const isKnown = signatures.every(({ key }) => key !== undefined)
  const keys = signatures.map(({ key }) => key)
  const isValid = await runWithWebCrypto((suite) =>
    isProved(suite, { record, statements, keys, organizationId: organization.id, sequence }),
  )
  const verdict = isValid ? (isKnown ? 'verified' : 'no key') : 'invalid'
  return { verdict, details: record.details, signatures, record: line }
}

async function withKey(act: SignedAct, statement: JsonObject, people: NamedIdentity[]): Promise<ProvedSignature> {
  const { identityId, role, at } = statement
  const signer = people.find((each) => each.identityId === identityId)
  const instant = typeof at === 'string' ? at : ''
  const shown = { signer, role: typeof role === 'string' ? role : '', at: instant, signature: act.signature }
  if (!signer) return { ...shown, key: undefined }
  // The signer may have changed the username since.
  const given = { params: { handle: signer.handle }, querystring: { at: instant, identityId: signer.identityId } }
  const key = await callOpenly('GET /api/signing/public-key/:handle', given, readSiteSettings().baseUrl)
  return { ...shown, key: { ...key, fingerprint: await fingerprintOf(key.publicKey) } }
}

type Presented = {
  record: Record
  statements: JsonObject[]
  keys: (PublicKey | undefined)[]
  organizationId: string
  sequence: number
}

/** Verifies that entry, details, statements and signatures belong together, as far as keys are known. */
function isProved(
  { sha256, verifyEd25519 }: NoteSuite,
  { record, statements, keys, organizationId, sequence }: Presented,
): boolean {
  const { entry, details, salt, acts } = record
  if (entry['organizationId'] !== organizationId || entry['sequence'] !== sequence || acts.length === 0) return false
  if (actsDigest(sha256, acts) !== entry['acts']) return false
  const saltBytes = salt === undefined ? undefined : fromCanonicalBase64Of(16, salt)
  if (details && (!saltBytes || detailsDigest(sha256, details, saltBytes) !== entry['details'])) return false
  return acts.every((act, index) => {
    const [statement = {}, key] = [statements[index], keys[index]]
    const isOfEntry =
      statement['organizationId'] === organizationId &&
      statement['issuer'] === readSiteSettings().authUrl &&
      statement['action'] === entry['action'] &&
      statement['details'] === entry['details'] &&
      statement['role'] === (index === 0 ? 'sign' : 'approve')
    const presence = fromCanonicalBase64Of(32, act.presence)
    if (!isOfEntry || !presence || presence.every((byte) => byte === 0)) return false
    if (!key) return true
    const signed = { publicKey: key.publicKey, signature: act.signature }
    return (
      statement['keyVersion'] === key.keyVersion && isSignedBy(verifyEd25519, signed, actMessage(statement, presence))
    )
  })
}

function parseRecord(line: string): Record {
  const record: unknown = JSON.parse(line)
  if (!isObject(record) || typeof record['entry'] !== 'string' || !Array.isArray(record['acts']))
    throw new Error('The trail has another form')
  const { details, salt } = record
  const acts = record['acts'].filter(isSignedAct)
  if (acts.length < record['acts'].length) throw new Error('The trail has signatures of another form')
  return {
    entry: parseObject(record['entry']),
    ...(isJsonObject(details) && { details }),
    ...(typeof salt === 'string' && { salt }),
    acts,
  }
}

function parseObject(text: string): JsonObject {
  const parsed = parseCanonicalJson(text)
  return isJsonObject(parsed) ? parsed : {}
}

function isSignedAct(value: unknown): value is SignedAct {
  return isObject(value) && ['statement', 'presence', 'signature'].every((name) => typeof value[name] === 'string')
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && !Array.isArray(value)
}
