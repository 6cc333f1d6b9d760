import type { Answer, Api, Given } from '@countersign/protocol/api'
import { answerOf, call, reach, requestOf, textOf, type Parts } from './call.ts'
import { readSite } from './view.ts'

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

/** The same with a signature; without one nothing is done, and the refusal says what there is to sign. */
export async function callSigned<Name extends keyof Api>(
  name: Name,
  given: Given<Name>,
  signedAction: { signature?: string },
): Promise<Answer<Name>> {
  const { body, ...parts }: Parts = given
  return answerOf(await ask(name, { ...parts, body: { ...(typeof body === 'object' && body), signedAction } }))
}

/** The same for an endpoint whose answer is no JSON. */
export async function callBusinessForText<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<string> {
  return textOf(await ask(name, given))
}

async function ask(name: string, given: Parts): Promise<Response> {
  const { url, init } = requestOf(readSite().businessUrl, name, given)
  const authorization = `Bearer ${await bearer()}`
  // What the server writes to others for this person, it writes in the language of the page.
  const headers = { ...init.headers, authorization, 'accept-language': document.documentElement.lang }
  const response = await reach(url, { ...init, headers, credentials: 'omit' })
  // The session has ended: whoever signs in again gets another bearer.
  if (response.status === 401) speaking = undefined
  return response
}
