import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import type { ResponseOf } from '@countersign/protocol/api'
import { actChallenge } from '@countersign/protocol/formats/acts/act'
import { toBase64Url } from '@countersign/protocol/formats/base64'
import type { PresenceEvidence } from '@countersign/protocol/formats/signing/approval'
import type { Act } from '@countersign/protocol/organizations/acts'
import { sha256 } from '@noble/hashes/sha2.js'
import { callBusiness } from '../api/business-call.ts'
import { ApiError, call } from '../api/call.ts'
import type { UsedPasskey } from '../keys/passkey.ts'
import { type Candidates, confirmPresence } from '../keys/presence.ts'
import {
  type ActDifference,
  detailsOf,
  isOnTime,
  readStated,
  type ShownAct,
  stateAct,
  type StatedAct,
  type StatedByService,
} from './statement.ts'
import { type ActTrail, followActTrail, noteOwnAct } from './trail.ts'

const loadVault = () => import('../keys/key-vault.ts')

/** Names an act that was started: its organization, and the identity that acts. */
export type ActPlace = { organizationId: string; actId: string; identityId: string }

/** An act whose trail this device has followed, ready to be confirmed. */
export type StartedAct = {
  shown: ShownAct
  proposedBy: { handle: string; displayName: string } | undefined
  /** The statement as the service has written it. */
  text: string
  stated: StatedByService
} & ActTrail

/** Why nothing is signed, besides an alarm. */
export type ActStop = ActDifference | 'outdated'

/**
 * Loads a started act, and follows the trail of its organization. Never settles after an alarm. Throws `ApiError`
 * (`act_not_found`) or `NetworkError`.
 */
export async function loadAct(place: ActPlace): Promise<StartedAct | { stop: ActStop }> {
  const { organizationId, actId, identityId } = place
  const path = 'GET /api/organizations/:organizationId/acts/:actId'
  const params = { organizationId, actId }
  const act = await callBusiness(path, { params, querystring: { identity_id: identityId } })
  return followAct(place, act)
}

/** Fields of an act that the service has answered, with IDs as texts. */
export type ActFields = Omit<Act, 'identityId'>

/** Follows the trail of an act that the service has answered. Never settles after an alarm. */
export async function followAct(place: ActPlace, act: ActFields): Promise<StartedAct | { stop: ActStop }> {
  const { role, action, salt, statement: text, proposal } = act
  const stated = readStated(text)
  if (!stated) return { stop: 'statement' }
  // The trail is remembered with this time: one in the future would make later contradictions look outdated.
  if (!isOnTime(stated, Date.now())) return { stop: 'clock' }
  const followed = await followActTrail(place, { ...stated, role, action, statement: text })
  if (followed === 'outdated') return { stop: 'outdated' }
  const details = detailsOf(act.details)
  const shown = { ...place, role, action, details, salt, proposal: proposal?.statement ?? null }
  return { shown, proposedBy: proposal?.proposedBy, text, stated, ...followed }
}

type OwnKey = Extract<ResponseOf<'GET /api/signing/keys/:identityId'>, { hasKey: true }>

/** An act that the user has confirmed with a passkey, before the key signs it. */
export type ConfirmedAct = {
  started: StartedAct
  statement: StatedAct
  key: OwnKey
  credential: AuthenticationResponse
  evidence: PresenceEvidence
}

type Confirming = { rpId: string; candidates: Candidates }
type ConfirmResult = { confirmed: ConfirmedAct; keyWraps: KeyWrap[]; used: UsedPasskey } | { stop: ActStop }

/**
 * Lets the user confirm an act with a passkey, whose challenge is the digest of what the page shows. Throws
 * `CeremonyError`, and `ApiError` (`no_signing_key`).
 */
export async function confirmAct(started: StartedAct, { rpId, candidates }: Confirming): Promise<ConfirmResult> {
  const { shown, text, stated, trail } = started
  const [key, { keyWraps }, { passkeys }, vault] = await Promise.all([
    call('GET /api/signing/keys/:identityId', { params: { identityId: shown.identityId } }),
    call('GET /api/account/key-wraps', {}),
    call('GET /api/auth/passkeys', {}),
    loadVault(),
  ])
  if (!key.hasKey) throw new ApiError(422, 'no_signing_key', '')
  // A signature by the key of another identity of the user would show that both are theirs.
  if (key.identityId !== shown.identityId) return { stop: 'statement' }
  // The key was replaced since, and with it the act has ended.
  if (key.keyVersion !== stated.keyVersion) return { stop: 'outdated' }
  const statement = stateAct(location.origin, shown, { text, stated, place: trail }, Date.now())
  if ('differs' in statement) return { stop: statement.differs }
  const challenge = toBase64Url(actChallenge(sha256, statement.statement))
  const salt = await vault.prfSalt()
  const { credential, evidence, used } = await confirmPresence({
    ...{ rpId, challenge, candidates, passkeys, keyWraps, salt },
  })
  return { confirmed: { started, statement, key, credential, evidence }, keyWraps, used }
}

/**
 * Signs a confirmed act, and does it. Signs nothing if the key that the service names is not the user's own. Throws
 * `ApiError`: then nothing was done.
 */
export async function performAct(
  masterKey: MasterKey,
  { started, statement, key, credential, evidence }: ConfirmedAct,
): Promise<{ result: unknown } | { stop: ActStop }> {
  const { adoptIfUnproved, signAct } = await loadVault()
  await adoptIfUnproved(masterKey, key)
  const signature = await signAct(masterKey, key, { statement: statement.statement, evidence })
  if (signature === undefined) return { stop: 'statement' }
  const { organizationId, actId, identityId, role } = started.shown
  const { result } = await callBusiness('POST /api/organizations/:organizationId/acts/:actId', {
    params: { organizationId, actId },
    querystring: { identity_id: identityId },
    body: { signature, credential },
  })
  const { expiresAt } = started.stated
  // An approval has its place in the trail only with the act that it approves.
  if (role === 'sign' && started.isFollowed)
    await noteOwnAct(organizationId, started.trail, { text: statement.text, expiresAt })
  return { result }
}

/** Ends a started act. Nothing is done. */
export async function declineAct({ organizationId, actId, identityId }: ActPlace): Promise<void> {
  await callBusiness('DELETE /api/organizations/:organizationId/acts/:actId', {
    params: { organizationId, actId },
    querystring: { identity_id: identityId },
  })
}

/** Why nothing was done: the page or the service stopped it. */
export type StopReason = ActStop | 'superseded' | 'changed' | 'expired'

/** Returns why the service has not done an act that must be started again; undefined for any other error. */
export function stopReasonOf(error: unknown): StopReason | undefined {
  if (!(error instanceof ApiError)) return undefined
  switch (error.code) {
    case 'act_not_found':
      return 'expired'
    case 'act_superseded':
      return 'superseded'
    case 'state_changed':
      return 'changed'
    case 'invalid_act':
      return 'statement'
    default:
      return undefined
  }
}
