import type { FastifyRequest } from 'fastify'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordAuditEvent, type AuditAction, type AuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import { defineErrors } from '#platform/api-error.ts'
import { requireRecentAuthentication } from '#accounts/sessions/session.ts'
import type { MemberContext } from './access.ts'
import type { Member } from './member.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_action_signature: [403, "signedAction.signature does not verify with the acting identity's signing key."],
  signed_action_required: [
    403,
    'This action must be signed. Sign message and repeat the request with signedAction.signature.',
  ],
  passkey_required: [403, 'A session opened by enterprise SSO cannot do this. Sign in with a passkey.'],
  no_signing_key: [422, 'The acting identity has no signing key.'],
})

/**
 * Content of an action, as the member signs it, and the signature, if sent. With `isDryRun` the request only asks for
 * the message and changes nothing.
 */
export type SignedActionInput = { details: Record<string, unknown>; signature: string | undefined; isDryRun: boolean }

type SignableRequest = { params: unknown; body: unknown } & Pick<FastifyRequest, 'routeOptions'>

/** Lists the path parameters, then the body fields except `signedAction`, in the order of their schemas. */
export function parseSignedAction({ params, body, routeOptions: { schema } }: SignableRequest): SignedActionInput {
  const { signedAction, ...fields } = { ...inOrder(body, schema?.body) }
  const details = { ...inOrder(params, schema?.params), ...fields }
  const signature = isRecord(signedAction) ? signedAction['signature'] : undefined
  const asksWhatToSign = isRecord(signedAction) && signature === undefined
  return { details, signature: typeof signature === 'string' ? signature : undefined, isDryRun: asksWhatToSign }
}

/**
 * Table of member actions and the authentication they require. Recent passkey use is required for every action that can
 * add a member, permission, credential, connection or key, or that loses data for good. Only actions in this table can
 * be recorded as a member's action.
 */
const takesFreshPasskey = {
  'organization.updated': 'if it gives',
  'organization.deleted': 'always',
  'organization.member.updated': 'if it gives',
  'organization.member.removed': 'if it gives',
  'organization.invitation.created': 'always',
  'organization.invitation.revoked': 'never',
  // Only the DNS record verifies a domain, and a domain has no effect before a connection names it.
  'organization.domain.added': 'never',
  'organization.domain.verified': 'never',
  'organization.domain.removed': 'never',
  'organization.key.created': 'always',
  'organization.key.shared': 'always',
  'organization.key.given_up': 'always',
  'organization.key.deleted': 'always',
  'organization.kms.updated': 'always',
  'organization.kms.removed': 'always',
  'sso.connection.created': 'always',
  'sso.connection.updated': 'always',
  'sso.connection.confirmed': 'always',
  'sso.connection.deleted': 'always',
  'sso.encryption_key.created': 'always',
  'sso.encryption_key.removed': 'always',
  'scim.token.created': 'always',
  'scim.token.revoked': 'always',
} as const satisfies Partial<Record<AuditAction, 'always' | 'if it gives' | 'never'>>

type ActAction = keyof typeof takesFreshPasskey

/**
 * The action in the past tense and its audit details. `givesNothing`: the action requires recent authentication only if
 * it grants something, and this one does not. `unsigned`: the action never needs a signature. `isAlwaysSigned`: the
 * action always needs one. `isConfidential`: the message contains a secret, so the audit log stores the signature only.
 */
type Act = {
  action: ActAction
  givesNothing?: boolean
  details?: AuditEvent['details']
  unsigned?: boolean
  isAlwaysSigned?: boolean
  isConfidential?: boolean
}

/**
 * Records an action of a member in the audit log, with its signature, if any. Throws `reauthentication_required` and
 * `passkey_required` if the action requires recent authentication; `invalid_action_signature`; `passkey_required` if a
 * signature comes from a session without a passkey; and `signed_action_required` if the organization requires
 * signatures. A dry run always throws, so that nothing changes: `signed_action_required`, `no_signing_key` or
 * `passkey_required`.
 */
export async function recordSignedAction(
  tx: Transaction,
  { asking, acting }: { asking: MemberContext; acting: Member },
  { action, details, unsigned = false, isAlwaysSigned = false, isConfidential = false, givesNothing = false }: Act,
  now: Date,
): Promise<void> {
  const { session, requested } = asking
  const { identityId, organization } = acting
  const { signature } = requested
  const freshness = takesFreshPasskey[action]
  if (freshness === 'always' || (freshness === 'if it gives' && !givesNothing))
    requireRecentAuthenticationForAction(asking, now)
  const signatureRequired = isAlwaysSigned || (organization.requireSignedActions && !unsigned)
  // Members can read signatures in the audit log, so this signature can only be a copy from another request.
  if (signature !== undefined && session.authMethod !== 'passkey') throw errors.passkey_required()
  if (requested.isDryRun) await requireSigningKey(tx, { asking, acting }, signatureRequired)
  // The error contains the message to sign and the identity, so that the client can sign and repeat the request.
  if (signature === undefined && (signatureRequired || requested.isDryRun))
    throw errors.signed_action_required({
      fields: { identityId, message: signedActionMessage(action, requested.details) },
    })
  const signed =
    signature === undefined ? undefined : await readSigned(tx, identityId, action, { ...requested, signature })
  const kept = isConfidential ? signed && { signature: signed.signature } : signed
  const { organizationId } = organization
  const entry = { action, actor: 'user', userId: session.userId, identityId, organizationId } as const
  await recordAuditEvent(tx, { ...entry, details: { ...details, ...kept } }, now)
}

/**
 * Throws `passkey_required` or `no_signing_key` if the member cannot sign, because the signing key is unlocked by a
 * passkey. The error shows if a signature is required.
 */
async function requireSigningKey(
  tx: Transaction,
  { asking, acting }: { asking: MemberContext; acting: Member },
  signatureRequired: boolean,
): Promise<void> {
  const details = { fields: { signatureRequired } }
  if (asking.session.authMethod !== 'passkey') throw errors.passkey_required(details)
  if (!(await store.findSigningKey(tx, acting.identityId))) throw errors.no_signing_key(details)
}

/**
 * Calls `requireRecentAuthentication` for an action, except in a dry run. A dry run changes nothing, and the member
 * later proves presence with the passkey that signs. Not suitable for actions that call other services before they are
 * recorded.
 */
export function requireRecentAuthenticationForAction({ session, requested }: MemberContext, now: Date): void {
  if (!requested.isDryRun) requireRecentAuthentication(session, now)
}

/** Returns the message that the current signing key of an identity has signed. Throws `invalid_action_signature`. */
async function readSigned(
  tx: Transaction,
  identityId: IdentityId,
  action: AuditAction,
  requested: SignedActionInput & { signature: string },
) {
  const message = signedActionMessage(action, requested.details)
  const publicKey = await store.findSigningKey(tx, identityId)
  const bytes = fromCanonicalBase64(requested.signature)
  if (!publicKey || !bytes || !verifies(Buffer.from(message, 'utf8'), bytes, publicKey))
    throw errors.invalid_action_signature()
  return { signed: message, signature: requested.signature }
}

/** Picks the fields of a value that its schema names, in schema order. */
function inOrder(value: unknown, schema: unknown): Record<string, unknown> {
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return {}
  const names = Object.keys(schema['properties']).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
