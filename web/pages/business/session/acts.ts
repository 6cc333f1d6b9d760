import type { ResponseOf, Api, RequestOf } from '@countersign/protocol/api'
import { parseRefusal, type Refusal } from '../../../lib/acts/refusal.ts'
import type { ActPlace } from '../../../lib/acts/act.ts'
import { actPageUrl, noteDeparture } from '../../../lib/acts/returning.ts'
import { callBusiness, callSigned } from '../../../lib/api/business-call.ts'
import { ApiError } from '../../../lib/api/call.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { keepInput } from './kept-input.ts'
import { withRecentAuthentication } from './session.ts'

/** The actions that may be signed in an organization: every endpoint that takes a signature. */
export type SignedActionName = {
  [Name in keyof Api]: RequestOf<Name> extends { body: infer Body }
    ? 'signedAction' extends keyof NonNullable<Body>
      ? Name
      : never
    : never
}[keyof Api]

/** Performs an action. */
export type SignedAction = <Name extends SignedActionName>(
  name: Name,
  given: RequestOf<Name>,
) => Promise<ResponseOf<Name>>

/** The member has no signing key here, and may act without a signature. Nothing was done. */
class CannotSign extends Error {}

/**
 * Performs an action that needs no confirmation here, or that was confirmed. A member with a signing key goes to the
 * page that signs it, in this tab, and comes back to this path: then the promise never settles. Throws `ApiError`, also
 * if the member comes back through the history, or `NetworkError`.
 */
export const act: SignedAction = async (name, given) => {
  try {
    return await actSigned(name, given)
  } catch (error) {
    if (!(error instanceof CannotSign)) throw error
    return withRecentAuthentication(() => callBusiness(name, given))
  }
}

/**
 * Performs an action without a signature. Leaving an organization never requires one: the signing page shows details
 * of the organization, and a member without access sees none there. Throws `ApiError` or `NetworkError`.
 */
export const skipSignature: SignedAction = (name, given) => callBusiness(name, given)

/**
 * Performs an action with a signature, and asks for confirmation on the signing page. Members who cannot sign confirm
 * it here.
 */
export async function signedOrUnsigned(
  work: (how: SignedAction) => Promise<unknown>,
  confirm: () => unknown,
): Promise<void> {
  try {
    await work(actSigned)
  } catch (error) {
    if (!(error instanceof CannotSign)) throw error
    await confirm()
  }
}

const actSigned: SignedAction = (name, given) => withRecentAuthentication(() => startAct(name, given))

/** Nothing is done yet: the error says what is to be signed. */
const startAct: SignedAction = async (name, given) => {
  try {
    return await callSigned(name, given, {})
  } catch (error) {
    if (mayDoWithout(error)) throw new CannotSign('Nothing to sign with', { cause: error })
    const refusal = parseRefusal(error)
    if (!refusal) throw error
    if (refusal.act.approvalsNeeded > 0) return propose(refusal)
    return leaveToSign(refusal, error)
  }
}

function mayDoWithout(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.fields['signatureRequired'] !== false) return false
  return error.code === 'no_signing_key' || error.code === 'passkey_required'
}

/** Proposes an act that needs approvals, and shows the proposals of the organization. */
async function propose({ place, act: { action } }: Refusal): Promise<never> {
  const { organizationId, actId, identityId } = place
  await callBusiness('POST /api/organizations/:organizationId/acts/:actId/proposal', {
    params: { organizationId, actId },
    querystring: { identity_id: identityId },
  })
  noteDeparture({ actId, action })
  history.pushState(null, '', `/organizations/${organizationId}/council#act=${actId}&proposed`)
  location.reload()
  return new Promise(() => {})
}

/** Leaves to sign an act that the service has started for a proposal. The promise never settles. */
export function signStarted(place: ActPlace, action: string): Promise<never> {
  return leaveToSign({ place, act: { action } }, new ApiError(403, 'signed_action_required', ''))
}

function leaveToSign(
  { place, act: { action } }: { place: ActPlace; act: { action: string } },
  error: unknown,
): Promise<never> {
  noteDeparture({ actId: place.actId, action })
  keepInput('sign')
  location.assign(actPageUrl(readSiteSettings().authUrl, place, location.pathname))
  return new Promise((_, reject) => {
    // The browser may show this page again as it was, if the member goes back in the history.
    addEventListener('pageshow', ({ persisted }) => persisted && reject(error), { once: true })
  })
}
