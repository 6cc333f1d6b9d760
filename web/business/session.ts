import type { Answer, Api, Given } from '@countersign/protocol/api'
import { limits } from '@countersign/protocol/formats/limits'
import { answerOf, call, reach, Refused, requestOf, textOf } from '../call.ts'
import { readSite } from '../view.ts'

/**
 * The bearer by which this page speaks for the session, whose cookie is another host's. In the memory of this page
 * alone, and asked for again before it ends.
 */
let speaking: { businessToken: string; untilMilliseconds: number } | undefined

const renewedBeforeSeconds = 30

async function bearer(): Promise<string> {
  if (speaking && performance.now() < speaking.untilMilliseconds) return speaking.businessToken
  const { businessToken, expiresInSeconds } = await call('POST /api/auth/session/business', {})
  speaking = {
    businessToken,
    untilMilliseconds: performance.now() + (expiresInSeconds - renewedBeforeSeconds) * 1000,
  }
  return businessToken
}

/** Calls an endpoint of the business host as the signed-in person. Throws `Refused` or `Unreachable`. */
export async function callBusiness<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<Answer<Name>> {
  return answerOf(await ask(name, given))
}

/** The same for an endpoint whose answer is no JSON. */
export async function callBusinessForText<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<string> {
  return textOf(await ask(name, given))
}

async function ask<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<Response> {
  const { url, init } = requestOf(readSite().businessUrl, name, given)
  const authorization = `Bearer ${await bearer()}`
  // What the server writes to others for this person, it writes in the language of the page.
  const headers = { ...init.headers, authorization, 'accept-language': document.documentElement.lang }
  const response = await reach(url, { ...init, headers, credentials: 'omit' })
  // The session has ended: whoever signs in again gets another bearer.
  if (response.status === 401) speaking = undefined
  return response
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
