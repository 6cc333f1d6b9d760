import type { FastifyRequest } from 'fastify'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { signedActionMessage } from '@countersign/protocol/formats/signing/signed-action'
import { record, type AuditAction, type Audited } from '#platform/audit/audit.ts'
import type { Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import { refusals } from '#platform/refusal.ts'
import { requireFresh } from '#accounts/sessions/session.ts'
import type { Asking, Member } from './access.ts'
import * as membersStore from '#organizations/members/store.ts'

const refuse = refusals({
  invalid_action_signature: [403, 'The signing key of the identity that acts has not signed this.'],
  signed_action_required: [
    403,
    'Nothing was done. Such an act is signed: send signedAction with it, a signature over this message.',
  ],
  passkey_required: [403, 'This takes your passkey: an organization has signed you in here, for itself alone.'],
  no_signing_key: [422, 'The identity that acts has no signing key.'],
})

/**
 * What a request asks to be done, as whoever asks signs it, and their signature if they sent one. With `asksWhatToSign`
 * it only asks that, and nothing is done.
 */
export type Asked = { details: Record<string, unknown>; signature: string | undefined; asksWhatToSign: boolean }

type SentToDo = { params: unknown; body: unknown } & Pick<FastifyRequest, 'routeOptions'>

/** The parameters of the path, then the fields of the body but `signedAction`, in the order of their schemas. */
export function askedIn({ params, body, routeOptions: { schema } }: SentToDo): Asked {
  const { signedAction, ...fields } = { ...inOrder(body, schema?.body) }
  const details = { ...inOrder(params, schema?.params), ...fields }
  const signature = isRecord(signedAction) ? signedAction['signature'] : undefined
  const asksWhatToSign = isRecord(signedAction) && signature === undefined
  return { details, signature: typeof signature === 'string' ? signature : undefined, asksWhatToSign }
}

/**
 * Which acts of members take a passkey that was just used: all that can add a member, a right, a credential, a
 * connection or a key, or that loses what nobody brings back. What a member does is in this table, or is not recorded
 * as an act of theirs.
 */
const takesFreshPasskey = {
  'organization.changed': 'if it gives',
  'organization.deleted': 'always',
  'organization.member.changed': 'if it gives',
  'organization.member.removed': 'if it gives',
  'organization.invitation.created': 'always',
  'organization.invitation.withdrawn': 'never',
  // What stands in the DNS proves a domain, and nothing counts by it before a connection names it.
  'organization.domain.claimed': 'never',
  'organization.domain.verified': 'never',
  'organization.domain.removed': 'never',
  'organization.key.created': 'always',
  'organization.key.granted': 'always',
  'organization.key.given_up': 'always',
  'organization.key.deleted': 'always',
  'organization.kms.set': 'always',
  'organization.kms.removed': 'always',
  'sso.connection_created': 'always',
  'sso.connection_changed': 'always',
  'sso.connection_confirmed': 'always',
  'sso.connection_deleted': 'always',
  'sso.encryption_key_created': 'always',
  'sso.encryption_key_removed': 'always',
  'sso.scim_token_created': 'always',
  'sso.scim_token_removed': 'always',
} as const satisfies Partial<Record<AuditAction, 'always' | 'if it gives' | 'never'>>

type ActAction = keyof typeof takesFreshPasskey

/**
 * What was done, in the past tense, and what the trail says of it; `givesNothing` where the act takes a fresh passkey
 * if it gives something, and does not; `unsigned` where nobody need sign it anywhere, `isAlwaysSigned` where everybody
 * signs it everywhere, `isConfidential` where the message holds a secret: then the trail keeps the signature alone.
 */
type Act = {
  action: ActAction
  givesNothing?: boolean
  details?: Audited['details']
  unsigned?: boolean
  isAlwaysSigned?: boolean
  isConfidential?: boolean
}

/**
 * Records what a member does in an organization, with their signature where they signed it. Refuses
 * `reauthentication_required` and `passkey_required` where the act takes a fresh passkey, `invalid_action_signature`,
 * `passkey_required` where a signature comes by a session that no passkey opened, and `signed_action_required` where
 * the organization takes no act without one. Who asks what to sign is refused always, so that nothing is done: so, or
 * with `no_signing_key` or `passkey_required`.
 */
export async function recordAct(
  tx: Transaction,
  { asking, acting }: { asking: Asking; acting: Member },
  { action, details, unsigned = false, isAlwaysSigned = false, isConfidential = false, givesNothing = false }: Act,
  now: Date,
): Promise<void> {
  const { session, asked } = asking
  const { identityId, organization } = acting
  const { signature } = asked
  const freshness = takesFreshPasskey[action]
  if (freshness === 'always' || (freshness === 'if it gives' && !givesNothing)) requireFreshToAct(asking, now)
  const signatureRequired = isAlwaysSigned || (organization.requireSignedActions && !unsigned)
  // It can only be one that was made for another request: whoever reads the trail has those.
  if (signature !== undefined && session.authMethod !== 'passkey') throw refuse.passkey_required()
  if (asked.asksWhatToSign) await requireMeansToSign(tx, { asking, acting }, signatureRequired)
  // Who is refused is told what to sign, and as whom, to do that and to ask again.
  if (signature === undefined && (signatureRequired || asked.asksWhatToSign))
    throw refuse.signed_action_required({ fields: { identityId, message: signedActionMessage(action, asked.details) } })
  const signed = signature === undefined ? undefined : await readSigned(tx, identityId, action, { ...asked, signature })
  const kept = isConfidential ? signed && { signature: signed.signature } : signed
  const { organizationId } = organization
  const entry = { action, actor: 'person', userId: session.userId, identityId, organizationId } as const
  await record(tx, { ...entry, details: { ...details, ...kept } }, now)
}

/**
 * Refuses `passkey_required` or `no_signing_key` to whoever can't sign, as a passkey opens what signs, and tells
 * whether they may do without.
 */
async function requireMeansToSign(
  tx: Transaction,
  { asking, acting }: { asking: Asking; acting: Member },
  signatureRequired: boolean,
): Promise<void> {
  const told = { fields: { signatureRequired } }
  if (asking.session.authMethod !== 'passkey') throw refuse.passkey_required(told)
  if (!(await membersStore.findSigningKey(tx, acting.identityId))) throw refuse.no_signing_key(told)
}

/**
 * As `requireFresh` for an act. Who asks what to sign does nothing yet, and proves by the passkey with which they sign
 * that it is them: they need not have done so before. Not for what asks others elsewhere before it is recorded.
 */
export function requireFreshToAct({ session, asked }: Asking, now: Date): void {
  if (!asked.asksWhatToSign) requireFresh(session, now)
}

/** The message that the current key of an identity has signed. Refuses `invalid_action_signature`. */
async function readSigned(
  tx: Transaction,
  identityId: string,
  action: AuditAction,
  asked: Asked & { signature: string },
) {
  const message = signedActionMessage(action, asked.details)
  const publicKey = await membersStore.findSigningKey(tx, identityId)
  const bytes = fromCanonicalBase64(asked.signature)
  if (!publicKey || !bytes || !verifies(Buffer.from(message, 'utf8'), bytes, publicKey))
    throw refuse.invalid_action_signature()
  return { signed: message, signature: asked.signature }
}

/** The fields of a value that its schema names, in that order. */
function inOrder(value: unknown, schema: unknown): Record<string, unknown> {
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return {}
  const names = Object.keys(schema['properties']).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
