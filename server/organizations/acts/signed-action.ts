import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordAuditEvent, type AuditAction, type AuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import { defineErrors } from '#platform/api-error.ts'
import { requireRecentAuthentication } from '#accounts/sessions/session.ts'
import type { MemberContext } from '#organizations/membership/access.ts'
import type { ApprovalsNeeded } from '#organizations/membership/council/council.ts'
import type { Member } from '#organizations/membership/member.ts'
import { UnsignedAct } from './act.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_action_signature: [403, "signedAction.signature does not verify with the acting identity's signing key."],
  passkey_required: [403, 'A session opened by enterprise SSO cannot do this. Sign in with a passkey.'],
  no_signing_key: [422, 'The acting identity has no signing key.'],
})

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
  'organization.signatory.admitted': 'always',
  'organization.signatory.suspended': 'always',
  'organization.council.reset_requested': 'always',
  'organization.council.reset': 'always',
} as const satisfies Partial<Record<AuditAction, 'always' | 'if it gives' | 'never'>>

type MemberAction = keyof typeof takesFreshPasskey

/**
 * The action in the past tense and its audit details. `from`: present values of what the action changes, read from the
 * locked row. `givesNothing`: the action requires recent authentication only if it grants something, and this one does
 * not. `unsigned`: the action never needs a signature. `isAlwaysSigned`: the action always needs one. `isConfidential`:
 * the message of version 1 contains a secret, so the audit log stores its signature only. `approvals`: what it needs of
 * other members; then it always needs a signature.
 */
type Action = {
  action: MemberAction
  from?: JsonObject
  givesNothing?: boolean
  details?: AuditEvent['details']
  unsigned?: boolean
  isAlwaysSigned?: boolean
  isConfidential?: boolean
  approvals?: ApprovalsNeeded
}

const noApprovals: ApprovalsNeeded = { count: 0, approvers: [] }

type Asking = { asking: MemberContext; acting: Member }

/**
 * Records an action of a member in the audit log; a signed act also in the trail, which can throw `state_changed`,
 * `act_superseded`, `act_not_found` and `approvals_missing`. Throws `reauthentication_required` and `passkey_required`
 * if the action requires recent authentication; `invalid_action_signature`; `passkey_required` if a session without a
 * passkey signs; and `UnsignedAct` if the organization requires a signature. A dry run always throws, so that nothing
 * changes: `UnsignedAct`, `no_signing_key` or `passkey_required`.
 */
export async function recordSignedAction(
  tx: Transaction,
  { asking, acting }: Asking,
  {
    action,
    details,
    from,
    unsigned = false,
    isAlwaysSigned = false,
    isConfidential = false,
    givesNothing = false,
    approvals = noApprovals,
  }: Action,
  now: Date,
): Promise<void> {
  const { session, requested } = asking
  const { identityId, organization } = acting
  const freshness = takesFreshPasskey[action]
  if (freshness === 'always' || (freshness === 'if it gives' && !givesNothing))
    requireRecentAuthenticationForAction(asking, now)
  const { organizationId } = organization
  const event = { action, actor: 'user', userId: session.userId, identityId, organizationId } as const
  if (requested.act) {
    await requested.act.record(tx, { acting, event: { ...event, details: details ?? {} }, from, approvals }, now)
    return
  }
  const { signature } = requested
  // Members can read signatures in the audit log, so this signature can only be a copy from another request.
  if (signature !== undefined && session.authMethod !== 'passkey') throw errors.passkey_required()
  const message = signedActionMessage(action, requested.details)
  if (signature !== undefined) await requireSigned(tx, identityId, { message, signature })
  const { count: approvalsNeeded } = approvals
  const signatureRequired = isAlwaysSigned || approvalsNeeded > 0 || (organization.requireSignedActions && !unsigned)
  if (signatureRequired || requested.isDryRun) {
    const key = await requireSigningKey(tx, { asking, acting }, signatureRequired)
    throw new UnsignedAct({ identityId, organizationId, action, from, message, key, approvalsNeeded })
  }
  const signed = signature === undefined ? undefined : { ...(!isConfidential && { signed: message }), signature }
  await recordAuditEvent(tx, { ...event, details: { ...details, ...signed } }, now)
}

/**
 * Returns the signing key of the member. Throws `passkey_required` or `no_signing_key` if the member cannot sign,
 * because the signing key is unlocked by a passkey. The error shows if a signature is required.
 */
async function requireSigningKey(tx: Transaction, { asking, acting }: Asking, signatureRequired: boolean) {
  const details = { fields: { signatureRequired } }
  if (asking.session.authMethod !== 'passkey') throw errors.passkey_required(details)
  const key = await store.findSigningKey(tx, acting.identityId)
  if (!key) throw errors.no_signing_key(details)
  return key
}

/**
 * Calls `requireRecentAuthentication` for an action, except in a dry run, which changes nothing, and for a signed act,
 * for which the member has used a passkey. Not suitable for actions that call other services before they are recorded.
 */
export function requireRecentAuthenticationForAction(asking: MemberContext, now: Date): void {
  if (!asking.requested.isDryRun) requireRecentAuthenticationForCall(asking, now)
}

/** The same for actions that call other services before they are recorded, also in a dry run. */
export function requireRecentAuthenticationForCall({ session, requested }: MemberContext, now: Date): void {
  if (!requested.act) requireRecentAuthentication(session, now)
}

/**
 * Checks that the current signing key of an identity has signed a message of version 1. Throws
 * `invalid_action_signature`.
 */
async function requireSigned(
  tx: Transaction,
  identityId: IdentityId,
  { message, signature }: { message: string; signature: string },
): Promise<void> {
  const key = await store.findSigningKey(tx, identityId)
  const bytes = fromCanonicalBase64(signature)
  if (!key || !bytes || !verifies(Buffer.from(message, 'utf8'), bytes, key.publicKey))
    throw errors.invalid_action_signature()
}
