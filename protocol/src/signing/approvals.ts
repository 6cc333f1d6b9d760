import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { fromCanonicalBase64Of, toBase64 } from '../formats/base64.ts'
import { limits } from '../formats/limits.ts'
import { approvalMessage } from '../formats/signing/approval.ts'
import { parseCanonicalJson } from '../formats/signing/canonical-json.ts'
import type { NoteSuite } from '../formats/signing/checkpoint.ts'
import { isSignedBy } from '../formats/signing/ed25519.ts'
import { isCanonicalInstant } from '../formats/signing/instant.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { PublicKey, Signature, Uuid } from '../values.ts'

const Instant = Type.String({ description: 'UTC, in the one spelling of ECMAScript, so that it compares as text' })
const Digest = Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' })
const digestBytes = 32
const closed = { additionalProperties: false }
/** Clocks of two processes of a service may differ by this much. */
const clockToleranceSeconds = 10 * 60

/** Role of the person: for themselves, or as a member of an organization. */
export const ApprovalRole = Type.Union([Type.Literal('self'), Type.Literal('sign'), Type.Literal('approve')])

/** What a person approves, as the page shows it. Its canonical JSON is signed. */
export const ApprovalStatement = Type.Object(
  {
    version: Type.Literal(2),
    issuer: Type.String(),
    requestId: Uuid,
    app: Type.Object(
      {
        clientId: ClientId,
        name: Type.String(),
        origins: Type.Array(Type.String(), { maxItems: limits.redirectUrisMax, description: 'Sorted, as shown' }),
      },
      closed,
    ),
    identityId: IdentityId,
    handle: Type.String(),
    role: ApprovalRole,
    organization: Type.Union([
      Type.Null(),
      Type.Object(
        { id: OrganizationId, name: Type.String(), memberId: Uuid, approvalsNeeded: Type.Integer({ minimum: 0 }) },
        closed,
      ),
    ]),
    payloadSha256: Digest,
    publicKey: PublicKey,
    keyVersion: Type.Integer({ minimum: 1 }),
    challenge: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: '32 bytes of the server, base64url' }),
    createdAt: Instant,
    challengedAt: Instant,
    expiresAt: Instant,
  },
  closed,
)
export type ApprovalStatement = Static<typeof ApprovalStatement>

/** Approval as receipts, status and webhooks contain it. */
export const Approval = Type.Object(
  {
    statement: Type.String({ description: 'What the person approved: canonical JSON (RFC 8785)' }),
    signature: Signature,
    presence: Type.Optional(Type.String({ description: "SHA-256 of the passkey's assertion, base64" })),
  },
  { description: 'Signature of the key over request, app, role, text and time, and over the use of a passkey' },
)
export type Approval = {
  /** Canonical JSON of the statement. */
  statement: string
  /** Ed25519 signature by the key of the identity, base64. */
  signature: string
  /** Digest of the passkey's assertion, base64; absent if no passkey was used for this statement. */
  presence?: string | undefined
}

/** What an app knows by itself: its request, and the key of the identity. */
export type ExpectedApproval = {
  requestId: string
  clientId: string
  identityId: string
  issuer: string
  /** Username at that time. Without it, the one in the statement is the word of the service. */
  handle?: string | undefined
  role: ApprovalStatement['role']
  /** Without `memberId` or `name`, these are the word of the service. */
  organization?:
    | { id: string; approvalsNeeded: number; memberId?: string | undefined; name?: string | undefined }
    | undefined
  payload: string
  publicKey: string
  /** Without it, the version of the key is the word of the service. */
  keyVersion?: number | undefined
  /** Instants of the request and of its answer. Without them, the verifier believes those that it reads elsewhere. */
  createdAt?: string | undefined
  answeredAt?: string | undefined
  expiresAt?: string | undefined
  /** True if an approval without a passkey is refused. */
  requiresPresence: boolean
}

/** First error found in an approval. */
export type ApprovalError =
  | 'malformed_approval'
  | 'invalid_approval'
  | 'other_request'
  | 'other_app'
  | 'other_identity'
  | 'other_handle'
  | 'other_issuer'
  | 'other_role'
  | 'other_organization'
  | 'other_text'
  | 'other_key'
  | 'other_expiry'
  | 'out_of_time'
  | 'no_presence'

const utf8 = new TextEncoder()

/** Returns the first error of an approval, or undefined if it is what the app expects. */
export function findApprovalError(
  suite: NoteSuite,
  approval: Approval,
  expected: ExpectedApproval,
): ApprovalError | undefined {
  const statement = parseApprovalStatement(approval.statement)
  if (!statement) return 'malformed_approval'
  if (!isSigned(suite, statement, approval, expected.publicKey)) return 'invalid_approval'
  const payloadSha256 = toBase64(suite.sha256(utf8.encode(expected.payload)))
  const differences: [ApprovalError, boolean][] = [
    ['other_request', statement.requestId !== expected.requestId],
    ['other_app', statement.app.clientId !== expected.clientId],
    ['other_identity', statement.identityId !== expected.identityId],
    ['other_handle', expected.handle !== undefined && statement.handle !== expected.handle],
    ['other_issuer', statement.issuer !== expected.issuer],
    ['other_role', statement.role !== expected.role],
    ['other_organization', !isSameOrganization(statement.organization, expected.organization)],
    ['other_text', statement.payloadSha256 !== payloadSha256],
    ['other_key', statement.publicKey !== expected.publicKey || !isSameVersion(statement, expected)],
    ['other_expiry', expected.expiresAt !== undefined && !isSameInstant(statement.expiresAt, expected.expiresAt)],
    ['out_of_time', !isInTime(statement, expected)],
    ['no_presence', expected.requiresPresence && approval.presence === undefined],
  ]
  return differences.find(([, differs]) => differs)?.[0]
}

/** Parses a statement; returns undefined for any other text, also for another spelling of one. */
export function parseApprovalStatement(text: string): ApprovalStatement | undefined {
  const statement = parseCanonicalJson(text)
  if (!Check(ApprovalStatement, statement)) return undefined
  const { organization, role, app, createdAt, challengedAt, expiresAt } = statement
  if ((organization === null) !== (role === 'self')) return undefined
  if (![createdAt, challengedAt, expiresAt].every(isCanonicalInstant)) return undefined
  return app.origins.every((origin, index) => index === 0 || (app.origins[index - 1] ?? '') < origin)
    ? statement
    : undefined
}

function isSameVersion(stated: Pick<ApprovalStatement, 'keyVersion'>, { keyVersion }: ExpectedApproval): boolean {
  return keyVersion === undefined || stated.keyVersion === keyVersion
}

/**
 * Checks the order of the instants in a statement, and that what is said of request and answer agrees with them: an
 * approval is given within five minutes. Its time was compared with the clock of the person's device.
 */
function isInTime({ createdAt, challengedAt, expiresAt }: ApprovalStatement, expected: ExpectedApproval): boolean {
  if (createdAt > challengedAt || challengedAt >= expiresAt) return false
  if (expected.createdAt !== undefined && !isSameInstant(createdAt, expected.createdAt)) return false
  if (expected.answeredAt === undefined) return true
  const seconds = (Date.parse(expected.answeredAt) - Date.parse(challengedAt)) / 1000
  return seconds >= -clockToleranceSeconds && seconds <= limits.flowLifetimeSeconds + clockToleranceSeconds
}

/** Compares instants: an app may have stored one in another spelling. */
function isSameInstant(stated: string, expected: string): boolean {
  return Date.parse(stated) === Date.parse(expected)
}

function isSigned(
  { verifyEd25519 }: NoteSuite,
  statement: ApprovalStatement,
  { signature, presence }: Approval,
  publicKey: string,
): boolean {
  const digest = presence === undefined ? undefined : fromCanonicalBase64Of(digestBytes, presence)
  // Zeros are signed where no passkey was used, so they are no digest of one.
  if (presence !== undefined && (!digest || digest.every((byte) => byte === 0))) return false
  return isSignedBy(verifyEd25519, { publicKey, signature }, approvalMessage(statement, digest))
}

function isSameOrganization(
  stated: ApprovalStatement['organization'],
  expected: ExpectedApproval['organization'],
): boolean {
  if (expected?.memberId !== undefined && stated?.memberId !== expected.memberId) return false
  if (expected?.name !== undefined && stated?.name !== expected.name) return false
  return stated?.id === expected?.id && stated?.approvalsNeeded === expected?.approvalsNeeded
}
