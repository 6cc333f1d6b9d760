import type { Answer, Api, Given } from '@countersign/protocol/api'
import { callBusiness, callSigned } from '../../../lib/business-call.ts'
import { Refused } from '../../../lib/call.ts'
import { withFreshProof } from './session.ts'
import { signatureFor } from './signature.ts'

/** What is done in an organization and may be signed: every endpoint that takes a signature. */
export type ActName = {
  [Name in keyof Api]: Given<Name> extends { body: infer Body }
    ? 'signedAction' extends keyof NonNullable<Body>
      ? Name
      : never
    : never
}[keyof Api]

/** A way of doing an act. */
export type Act = <Name extends ActName>(name: Name, given: Given<Name>) => Promise<Answer<Name>>

/** Nothing was done: who acts has nothing here to sign with, and may do without. */
class CannotSign extends Error {}

/**
 * Does an act about which nobody has to be asked here, or has been: signed in a window, by whoever can. Throws
 * `Refused`, also where the person does not sign, or `Unreachable`.
 */
export const act: Act = async (name, given) => {
  try {
    return await actSigned(name, given)
  } catch (error) {
    if (!(error instanceof CannotSign)) throw error
    return withFreshProof(() => callBusiness(name, given))
  }
}

/**
 * Leaves without a signature, which that never takes: the window in which one signs shows what is inside an
 * organization, and whoever is not let in sees nothing there. Throws `Refused` or `Unreachable`.
 */
export const leaveUnsigned: Act = (name, given) => callBusiness(name, given)

/** Does something signed, where the window asks whether it is meant; who can't sign is asked here. */
export async function signedOr(work: (how: Act) => Promise<unknown>, ask: () => unknown): Promise<void> {
  try {
    await work(actSigned)
  } catch (error) {
    if (!(error instanceof CannotSign)) throw error
    await ask()
  }
}

const actSigned: Act = (name, given) => withFreshProof(() => signAndDo(name, given))

const signAndDo: Act = async (name, given) => {
  try {
    return await callSigned(name, given, {})
  } catch (error) {
    if (mayDoWithout(error)) throw new CannotSign('Nothing to sign with', { cause: error })
    return callSigned(name, given, { signature: await signatureFor(error) })
  }
}

function mayDoWithout(error: unknown): boolean {
  if (!(error instanceof Refused) || error.fields['signatureRequired'] !== false) return false
  return error.code === 'no_signing_key' || error.code === 'passkey_required'
}
