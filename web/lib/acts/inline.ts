import type { MasterKey } from '@countersign/keys/master-key'
import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { secretCommitment } from '@countersign/protocol/formats/acts/act'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isObject } from '@countersign/protocol/formats/json'
import { sha256 } from '@noble/hashes/sha2.js'
import { callSigned } from '../api/business-call.ts'
import type { Parts } from '../api/call.ts'
import { readSiteSettings } from '../page-data.ts'
import { type ActPlace, confirmAct, followAct, performAct, type StopReason, stopReasonOf } from './act.ts'
import { parseRefusal } from './refusal.ts'

/** The page cannot vouch for what it was to sign. Nothing was done. */
export class ActStoppedError extends Error {
  readonly stop: StopReason

  constructor(stop: StopReason) {
    super(`The act was stopped: ${stop}`)
    this.stop = stop
  }
}

/**
 * Does an action that this page itself has composed and shown, on the host of the passkeys. The passkey confirms each
 * act. Nothing is signed if the service states another action or other details than were sent. Throws `ApiError`,
 * `CeremonyError`, `NetworkError` and `ActStoppedError`.
 */
export async function actInline<Name extends keyof Api>(
  masterKey: MasterKey,
  { name, action }: { name: Name; action: string },
  given: RequestOf<Name> & Parts,
): Promise<ResponseOf<Name>> {
  const refusal = await callSigned(name, given, {}).then(
    () => undefined,
    (error: unknown) => {
      const parsed = parseRefusal(error)
      if (!parsed) throw error
      return parsed
    },
  )
  // Without the signature, nothing may be done.
  if (!refusal) throw new ActStoppedError('statement')
  const { place, act, secretSalt } = refusal
  const sent = { ...given.params, ...(isObject(given.body) && given.body) }
  const isExpected = act.action === action && isActor(place, given) && isSent(act.details, sent, secretSalt)
  if (!isExpected) throw new ActStoppedError('statement')
  const started = await followAct(place, act)
  if ('stop' in started) throw new ActStoppedError(started.stop)
  const rpId = readSiteSettings().relyingPartyId
  const confirmation = await confirmAct(started, { rpId, candidates: 'those that unlock keys' })
  if ('stop' in confirmation) throw new ActStoppedError(confirmation.stop)
  const done = await performAct(masterKey, confirmation.confirmed).catch((error: unknown) => {
    const why = stopReasonOf(error)
    throw why ? new ActStoppedError(why) : error
  })
  if ('stop' in done) throw new ActStoppedError(done.stop)
  // The service serializes the result by the schema of this endpoint, as in its own response.
  return done.result as ResponseOf<Name>
}

/** Checks that the act is of the identity and organization for which the page has sent it. */
function isActor({ organizationId, identityId }: ActPlace, { params, querystring }: Parts): boolean {
  return organizationId === params?.['organizationId'] && identityId === querystring?.['identity_id']
}

/** Compares details with what was sent. `from` is what the service says of before, and is not sent. */
function isSent(details: Record<string, unknown>, sent: object, secretSalt: string | undefined): boolean {
  const { from: _before, ...fields } = details
  return isSame(fields, sent, secretSalt)
}

function isSame(stated: unknown, sent: unknown, secretSalt: string | undefined): boolean {
  if (isObject(stated) && typeof sent === 'string') return isCommitment(stated, sent, secretSalt)
  if (Array.isArray(stated) && Array.isArray(sent))
    return stated.length === sent.length && stated.every((each, index) => isSame(each, sent[index], secretSalt))
  if (!isObject(stated) || !isObject(sent)) return stated === sent
  const names = Object.keys(stated)
  const isComplete = names.length === Object.keys(sent).length
  return isComplete && names.every((each) => Object.hasOwn(sent, each) && isSame(stated[each], sent[each], secretSalt))
}

function isCommitment(
  { commitment }: Record<string, unknown>,
  secret: string,
  secretSalt: string | undefined,
): boolean {
  const salt = secretSalt === undefined ? undefined : fromCanonicalBase64(secretSalt)
  return salt !== undefined && commitment === secretCommitment(sha256, secret, salt)
}
