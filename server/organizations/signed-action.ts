import type { FastifyRequest } from 'fastify'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { signedActionMessage } from '@countersign/protocol/formats/signed-action'
import { record, type AuditAction, type Audited } from '#kernel/audit.ts'
import type { Transaction } from '#kernel/database.ts'
import { verifies } from '#kernel/ed25519.ts'
import { refusals } from '#kernel/refusal.ts'
import type { Asking, Member } from './access.ts'
import { findSigningKey } from './store.ts'

const refuse = refusals({
  invalid_action_signature: [403, 'The signing key of the identity that acts has not signed this.'],
  signed_action_required: [
    403,
    'Such an act is signed here: send signedAction with it, a signature over this message.',
  ],
})

/** What a request asks to be done, as whoever asks signs it, and their signature if they sent one. */
export type Asked = { details: Record<string, unknown>; signature: string | undefined }

type SentToDo = { params: unknown; body: unknown } & Pick<FastifyRequest, 'routeOptions'>

/** The parameters of the path, then the fields of the body but `signedAction`, in the order of their schemas. */
export function askedIn({ params, body, routeOptions: { schema } }: SentToDo): Asked {
  const { signedAction, ...fields } = { ...inOrder(body, schema?.body) }
  const details = { ...inOrder(params, schema?.params), ...fields }
  const signature = isRecord(signedAction) ? signedAction['signature'] : undefined
  return { details, signature: typeof signature === 'string' ? signature : undefined }
}

/**
 * What was done, in the past tense, and what the trail says of it; `unsigned` where nobody need sign it anywhere,
 * `isAlwaysSigned` where everybody signs it everywhere, `isConfidential` where the message holds a secret: then the
 * trail keeps the signature alone.
 */
type Act = {
  action: AuditAction
  details?: Audited['details']
  unsigned?: boolean
  isAlwaysSigned?: boolean
  isConfidential?: boolean
}

/**
 * Records what a member does in an organization, with their signature where they signed it. Refuses
 * `invalid_action_signature`, and `signed_action_required` where the organization takes no act without one.
 */
export async function recordAct(
  tx: Transaction,
  { asking, acting }: { asking: Asking; acting: Member },
  { action, details, unsigned = false, isAlwaysSigned = false, isConfidential = false }: Act,
  now: Date,
): Promise<void> {
  const { session, asked } = asking
  const { identityId, organization } = acting
  const { signature } = asked
  const isWanted = isAlwaysSigned || (organization.requireSignedActions && !unsigned)
  // Who is refused is told what to sign, and as whom, to do that and to ask again.
  if (signature === undefined && isWanted)
    throw refuse.signed_action_required({ fields: { identityId, message: signedActionMessage(action, asked.details) } })
  const signed = signature === undefined ? undefined : await readSigned(tx, identityId, action, { ...asked, signature })
  const kept = isConfidential ? signed && { signature: signed.signature } : signed
  const { organizationId } = organization
  const entry = { action, actor: 'person', userId: session.userId, identityId, organizationId } as const
  await record(tx, { ...entry, details: { ...details, ...kept } }, now)
}

/** The message that the current key of an identity has signed. Refuses `invalid_action_signature`. */
async function readSigned(
  tx: Transaction,
  identityId: string,
  action: AuditAction,
  asked: Asked & { signature: string },
) {
  const message = signedActionMessage(action, asked.details)
  const publicKey = await findSigningKey(tx, identityId)
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
