import type { ResponseOf, Api, RequestOf } from '@countersign/protocol/api'
import { callBusiness, callSigned } from '../../../lib/api/business-call.ts'
import { ApiError } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from './session.ts'
import { signatureFor } from './signature.ts'

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
 * Performs an action that needs no confirmation here, or that was confirmed. A member with a signing key signs it in a
 * window. Throws `ApiError`, also if the member does not sign, or `NetworkError`.
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
 * Performs an action without a signature. Leaving an organization never requires one: the signing window shows details
 * of the organization, and a member without access sees none there. Throws `ApiError` or `NetworkError`.
 */
export const skipSignature: SignedAction = (name, given) => callBusiness(name, given)

/**
 * Performs an action with a signature, and asks for confirmation in the signing window. Members who cannot sign confirm
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

const actSigned: SignedAction = (name, given) => withRecentAuthentication(() => signAndDo(name, given))

const signAndDo: SignedAction = async (name, given) => {
  try {
    return await callSigned(name, given, {})
  } catch (error) {
    if (mayDoWithout(error)) throw new CannotSign('Nothing to sign with', { cause: error })
    return callSigned(name, given, { signature: await signatureFor(error) })
  }
}

function mayDoWithout(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.fields['signatureRequired'] !== false) return false
  return error.code === 'no_signing_key' || error.code === 'passkey_required'
}
