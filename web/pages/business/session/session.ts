import type { Answer, Api, Given } from '@countersign/protocol/api'
import { limits } from '@countersign/protocol/formats/limits'
import { callBusiness as callHost } from '../../../lib/business-call.ts'
import { call, Refused } from '../../../lib/call.ts'
import { readSite } from '../../../lib/view.ts'
import type { ActName } from './acts.ts'

export { callBusinessForText } from '../../../lib/business-call.ts'

/**
 * Calls an endpoint of the business host as the signed-in person, but none that does what is signed: that is an act.
 * Throws `Refused` or `Unreachable`.
 */
export function callBusiness<Name extends Exclude<keyof Api, ActName>>(
  name: Name,
  given: Given<Name>,
): Promise<Answer<Name>> {
  return callHost(name, given)
}

/** Whether nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Refused && error.status === 401
}

/** Leads to where one signs in, and back to this place. */
export function signIn(): void {
  location.replace(loginAndBackTo(location.pathname === '/' ? `${location.origin}/organizations` : location.href))
}

/** How much of a fresh proof must be left, so that nobody has to prove it again between a question and the answer. */
const answeredWithinSeconds = 60

/** Whether the person has proved lately enough that it is them, for what asks for that. */
export async function isFresh(): Promise<boolean> {
  const { secondsSinceAuthTime } = await call('GET /api/auth/session', {})
  return secondsSinceAuthTime + answeredWithinSeconds < limits.freshAuthenticationSeconds
}

/**
 * Leads to where the person proves it again, and then back here: passkeys answer on the host of the other pages alone,
 * in every browser. Never comes to an end here.
 */
export function proveAgain(fragment = ''): Promise<never> {
  const place = new URL(location.href)
  place.hash = fragment
  location.assign(`${loginAndBackTo(place.href)}&prove`)
  return new Promise(() => {})
}

type OwnMembership = { id: string; identityId: string }

/** Where the keys of an organization are made and shared in the browser, and back to this place. */
export function addressForKeys({ id, identityId }: OwnMembership, { renews }: { renews: boolean }): string {
  const query = new URLSearchParams({ organization: id, identity: identityId, return: location.href })
  if (renews) query.set('renew', '')
  return `${readSite().authUrl}/organization-keys?${query}`
}

/** Does what needs a fresh proof; where it is missing, the person gives it, comes back and does it again. */
export async function withFreshProof<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'reauthentication_required')) throw error
    return proveAgain()
  }
}

function loginAndBackTo(place: string): string {
  return `${readSite().authUrl}/login?return=${encodeURIComponent(place)}`
}
