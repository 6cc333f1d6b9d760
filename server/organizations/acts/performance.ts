import { fromCanonicalBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { actChallenge, actMessage } from '@countersign/protocol/formats/acts/act'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import type { OrganizationId } from '@countersign/protocol/ids'
import { verifyPresence, withPresence } from '#accounts/passkeys/assertion.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import type { ApprovalsNeeded } from '#organizations/membership/council/council.ts'
import type { PresentedAct } from '#organizations/membership/requested-action.ts'
import { defineErrors } from '#platform/api-error.ts'
import { appendAct } from '#platform/audit/trail.ts'
import { maxDate } from '#platform/clock.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type ActRow, type VerifiedAct, consumeAct, openRequest, readStatement, requireAct } from './act.ts'
import { toDetails } from './request-content.ts'
import { type Caller, isRequestOf, type Signable, type UncheckedCall } from './signable.ts'
import { consumeProposal, giveApproval } from './proposals/approval.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_act: [400, "signature does not verify over the act's statement with the signing key of the member."],
  state_changed: [409, 'What the act changes has changed since it was started. Start again.'],
  approvals_missing: [409, 'The act needs approvals of other members. Propose it.'],
  act_superseded: [409, 'Another act was done since this one was started. Start again.'],
})

/** Signable endpoint of this server, by the function that carries out its requests. */
export type Performer = { endpoint: AnyEndpoint; perform: (call: UncheckedCall, now: Date) => Promise<unknown> }
export type Performers = (endpoint: string) => Performer

/** Finds signable endpoints by their names. Throws for a name that this version does not know. */
export function createPerformers<Services>(
  signables: readonly Signable<Services>[],
  services: () => Services,
): Performers {
  return (name) => {
    const found = signables.find(({ endpoint }) => endpoint.name === name)
    if (!found) throw errors.state_changed()
    return { endpoint: found.endpoint, perform: (call, now) => found.perform(services(), call, now) }
  }
}

type Signed = {
  session: PasskeySession
  organizationId: OrganizationId
  actId: string
  signature: string
  credential: AuthenticationResponse
  caller: Caller
}

/**
 * Does an act once: carries out the request that started it, with all checks of its endpoint, in one transaction with
 * the entry of the trail. Throws `act_not_found`, `invalid_act`, `invalid_credential`, `state_changed`,
 * `act_superseded`, and the errors of the endpoint. Then nothing was done, and the act can be tried again until it
 * expires, unless there is nothing to do any more.
 */
export async function performAct(
  kernel: ServerContext,
  performers: Performers,
  { session, organizationId, actId, caller, ...given }: Signed,
  now: Date,
): Promise<{ action: string; result: object | null; endpoint?: AnyEndpoint }> {
  const act = await requireAct(kernel.db, { organizationId, actId, sessionId: session.sessionId }, now)
  const verified = await verifyAct(kernel, session, { act, ...given })
  if (verified.statement.role === 'approve')
    return { action: act.action, result: await giveApproval(kernel, session, verified, now) }
  const { endpoint, perform } = performers(act.endpoint)
  const { content, secretSalt } = await openRequest(kernel, act)
  // A proposal lives longer than a version of the service, which may take other requests.
  if (!isRequestOf(endpoint, content)) throw errors.state_changed()
  const salt = Buffer.from(secretSalt, 'base64')
  const detailsWith = (from: JsonObject | undefined) =>
    writeCanonicalJson(toDetails(endpoint.schema, content, { secretSalt: salt, from }))
  const { identityId } = act
  let isRecorded = false
  const result = await withPresence(kernel, { session, presence: verified.presence }, now, (countUse) => {
    const record: PresentedAct['record'] = async (tx, done, at) => {
      isRecorded = true
      await consumeAct(tx, act, now)
      const { acting, event, from, approvals } = done
      const isSame = acting.identityId === identityId && event.action === act.action
      if (!isSame || detailsWith(from) !== act.details) throw errors.state_changed()
      await appendSigned(tx, { ...verified, event, approvals }, at)
      await countUse(tx)
    }
    const requested = { details: {}, signature: undefined, isDryRun: false, act: { record } }
    return perform({ asking: { session, organizationId, identityId, requested }, ...content, caller }, now)
  })
  if (!isRecorded) {
    // The endpoint found nothing to change, for example a domain that is verified already. The trail lacks the act.
    await actingTransaction(kernel.db, session, (tx) => consumeAct(tx, act, now))
    throw errors.state_changed()
  }
  return { action: act.action, result: typeof result === 'object' ? result : null, endpoint }
}

/**
 * Verifies the signature of an act by the current key of its identity, and the use of a passkey for it. Changes
 * nothing. Throws `state_changed` if the key was replaced, `invalid_act`, `invalid_credential`.
 */
async function verifyAct(
  kernel: ServerContext,
  session: PasskeySession,
  { act, ...given }: Pick<Signed, 'signature' | 'credential'> & { act: ActRow },
): Promise<VerifiedAct> {
  const statement = readStatement(act.statement)
  const key = await store.findSigningKey(kernel.db, act.identityId)
  if (key?.keyVersion !== statement.keyVersion) throw errors.state_changed()
  const challenge = toBase64Url(actChallenge(sha256, statement))
  const presence = await verifyPresence(kernel, session, { credential: given.credential, challenge })
  const signature = fromCanonicalBase64(given.signature)
  if (!signature || !verifies(actMessage(statement, presence.digest), signature, key.publicKey))
    throw errors.invalid_act()
  return { act, statement, signature, presence }
}

type Recorded = VerifiedAct & { event: Parameters<typeof appendAct>[1]['event']; approvals: ApprovalsNeeded }

/** Appends an act to the trail with its proposal, if any, in the transaction of its change. */
async function appendSigned(
  tx: Transaction,
  { act, statement, signature, presence, event, approvals }: Recorded,
  now: Date,
): Promise<void> {
  const { organizationId, details, salt, proposalId } = act
  const signed = { statement: act.statement, presence: presence.digest, signature }
  const { previousAct, details: digest } = statement
  if (proposalId === null && approvals.count > 0) throw errors.approvals_missing()
  const approved =
    proposalId === null
      ? undefined
      : await consumeProposal(tx, { organizationId, proposalId, at: statement.at }, approvals, now)
  const entry = { organizationId, event, details, digest, salt, previousAct, proposal: approved?.statement }
  // The clock of the process that started the act may be ahead of this one.
  const at = maxDate(now, new Date(statement.at))
  if (!(await appendAct(tx, { ...entry, acts: [signed, ...(approved?.approvals ?? [])] }, at)))
    throw errors.act_superseded()
}
